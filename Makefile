# SPDX-License-Identifier: Apache-2.0
# make            build/sparkfab and build/sparkfab-agent
# make deps       what building needs, from the distribution (as root or through sudo)
# make demo       two emulated hosts with real RoCE, checked from one of them over ssh
# make test       everything: unit tests, fixtures and lab under ASan and UBSan
# make help       the other targets
# Variables: BUILD=dir  CC=clang  SANITIZE=address,undefined  WERROR=1  V=1  PREFIX=/usr/local  DESTDIR=

BUILD    ?= build
PREFIX   ?= /usr/local
CFLAGS   ?= -O2 -g
VERSION  := 0.1.0

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla -Wpointer-arith \
	-Wformat=2 -Wno-format-nonliteral -Wno-missing-field-initializers -Wundef -Wcast-align
HARDEN := -fstack-protector-strong -fPIE -D_FORTIFY_SOURCE=2
ifneq ($(SANITIZE),)
HARDEN := -fPIE -fno-omit-frame-pointer
SAN := -fsanitize=$(SANITIZE) -fno-sanitize-recover=all
endif
ifneq ($(WERROR),)
WARN += -Werror
endif
NL := $(shell pkg-config --cflags libnl-3.0 2>/dev/null || echo -I/usr/include/libnl3)
ALL_CFLAGS := -std=gnu17 -D_GNU_SOURCE -I. -I$(BUILD)/gen $(NL) -DSPARKFAB_VERSION='"$(VERSION)"' $(WARN) $(HARDEN) $(SAN) $(CFLAGS)
ALL_LDFLAGS := -pie -Wl,-z,relro,-z,now -Wl,--as-needed $(SAN) $(LDFLAGS)

# Small libraries are linked into the agent statically, so that a host needs none of them; libc never is.
STATIC := -Wl,-Bstatic -lnl-genl-3 -lnl-route-3 -lnl-3 -ljansson -lcrypto -Wl,-Bdynamic
# It travels at first contact: without symbols, except where a sanitizer wants to name places.
AGENT_STRIP := $(if $(SANITIZE),,-s)
AGENT_LIBS := $(STATIC) -ldl -lpthread
LIBS := -linih $(AGENT_LIBS)

ifeq ($(V),)
Q := @
say = @printf '  %-7s %s\n' $(1) $(2);
endif

# One folder a room; what a program may use is what it links.
AGENT_ROOMS := core facts perf peer
ROOMS := $(AGENT_ROOMS) results rules checks judge report cli
SRC := $(sort $(foreach room,$(ROOMS),$(wildcard $(room)/*.c)))
GEN := $(BUILD)/gen/registry.c $(BUILD)/gen/profiles_data.c
MAINS := cli/main.c peer/agent_main.c
OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out $(MAINS),$(SRC))) $(patsubst $(BUILD)/gen/%.c,$(BUILD)/obj/gen/%.o,$(GEN))
CHECKS := $(sort $(patsubst checks/%.c,%,$(filter-out checks/check.c,$(wildcard checks/*.c))))

all: $(BUILD)/sparkfab $(BUILD)/sparkfab-agent

$(BUILD)/sparkfab: $(BUILD)/obj/cli/main.o $(BUILD)/libsparkfab.a
	$(call say,LINK,$@) $(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
$(BUILD)/sparkfab-agent: $(BUILD)/obj/peer/agent_main.o $(BUILD)/libsparkfab.a
	$(call say,LINK,$@) $(CC) $(ALL_LDFLAGS) -Wl,--gc-sections $(AGENT_STRIP) -o $@ $^ $(AGENT_LIBS)
$(BUILD)/libsparkfab.a: $(OBJ)
	$(call say,AR,$@) rm -f $@; $(AR) rcsD $@ $^

$(BUILD)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/obj/gen/%.o: $(BUILD)/gen/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# The registry of checks: checks/NAME.c must define check_NAME, or the link fails with that name.
# The folder itself too: it is all that tells of a check that was removed.
$(BUILD)/gen/registry.c: checks $(wildcard checks/*.c) Makefile
	@mkdir -p $(@D)
	$(Q)( echo '#include "judge/judge.h"'; \
	  $(foreach c,$(CHECKS),echo 'extern const struct check check_$(c);';) \
	  echo 'const struct check *const check_registry[] = {'; \
	  $(foreach c,$(CHECKS),echo '	&check_$(c),';) \
	  echo '	NULL,'; echo '};' ) > $@.new && mv $@.new $@

# The profiles as strings: { "generic", "…text…" }, …
$(BUILD)/gen/profiles_data.c: profiles $(wildcard profiles/*.ini) Makefile
	@mkdir -p $(@D)
	$(Q)( echo '#include "rules/profile_data.h"'; echo 'const struct profile_data profile_data[] = {'; \
	  for f in $(sort $(wildcard profiles/*.ini)); do \
	    printf '{ "%s",\n' "$$(basename $$f .ini)"; sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/' $$f; echo '},'; done; \
	  echo '{ 0 }'; echo '};' ) > $@.new && mv $@.new $@

# Unit tests: one program a file, tests/unit/test_*.c, cmocka.
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(sort $(wildcard tests/unit/test_*.c)))
$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libsparkfab.a
	@mkdir -p $(@D)
	$(call say,TEST,$<) $(CC) $(ALL_CFLAGS) -DTEST_TOP='"$(CURDIR)"' -DTEST_BUILD='"$(abspath $(BUILD))"' $(ALL_LDFLAGS) -MMD -MP -o $@ $< $(BUILD)/libsparkfab.a -lcmocka $(LIBS)
unit-programs: $(UNIT)
unit: $(UNIT)
	$(Q)set -e; for t in $(UNIT); do $$t; done

# Rewrites what the fixtures of one check (CHECK=mtu_parity), or of all, are expected to give; review it with git diff.
bless: $(BUILD)/unit/test_fixtures
	$(Q)BLESS=1 $(if $(CHECK),CHECK=$(CHECK)) $<

docs: $(BUILD)/sparkfab
	$(Q)$(BUILD)/sparkfab list checks --format markdown > docs/checks.md.new && mv docs/checks.md.new docs/checks.md

# Fuzz targets: one a parser of foreign bytes, seeds from the fixtures. FUZZ_SECONDS each.
FUZZ_SECONDS ?= 30
FUZZ := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
fuzz:
	$(Q)packaging/deps test
	$(Q)tests/fuzz/run $(FUZZ_SECONDS) $(FUZZ)
$(BUILD)/fuzz/%: tests/fuzz/fuzz_%.c $(BUILD)/libsparkfab.a
	@mkdir -p $(@D)
	$(call say,FUZZ,$<) $(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $< $(BUILD)/libsparkfab.a $(LIBS)

# What judging many hosts costs, by its parts: tests/bench/many-hosts.
$(BUILD)/bench/%: tests/bench/%.c $(BUILD)/libsparkfab.a
	@mkdir -p $(@D)
	$(call say,BENCH,$<) $(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(BUILD)/libsparkfab.a $(LIBS)

deps:
	$(Q)packaging/deps build

demo:
	$(Q)packaging/deps build
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/lab/demo

test:
	$(Q)packaging/deps test
	$(Q)tests/run

lab:
	$(Q)packaging/deps build
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/lab/deps
ifeq ($(RUN),)
	$(Q)tests/lab/lab shell
else
	$(Q)tests/lab/lab with '$(subst ','\'',$(RUN))'
endif

lint:
	$(Q)packaging/deps test
	$(Q)tests/lint/run

bench:
	$(Q)packaging/deps build
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/bench/run

install: all
	install -D -m 755 $(BUILD)/sparkfab $(DESTDIR)$(PREFIX)/bin/sparkfab
	install -D -m 755 $(BUILD)/sparkfab-agent $(DESTDIR)$(PREFIX)/bin/sparkfab-agent

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile
	@echo 'make unit       unit tests and fixtures only          make bless CHECK=mtu_parity   accept its findings'
	@echo 'make lint       compilers, analyzers, budgets         make fuzz FUZZ_SECONDS=60     every parser'
	@echo 'make lab        a shell on two emulated hosts         make lab RUN="…"              one command on head'
	@echo 'make bench      ratios against the usual tools        make docs                     docs/checks.md'

-include $(wildcard $(BUILD)/obj/*/*.d $(BUILD)/unit/*.d)

clean:
	rm -rf $(BUILD)

.PHONY: all unit unit-programs bless docs fuzz deps demo test lab lint bench install help clean
