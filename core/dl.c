// SPDX-License-Identifier: Apache-2.0
/* The one loader of libraries that a host may not have. */
#include "core/dl.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

static void *find(void *library, const struct dl_symbol *symbol)
{
	return symbol->version ? dlvsym(library, symbol->name, symbol->version) : dlsym(library, symbol->name);
}

/* dlerror() may give NULL in theory; a message must not. */
static const char *why(void)
{
	const char *text = dlerror();

	return text ? text : "no reason given";
}

static void *open_first(const char *const names[], const char **ret_name, struct fault *reterr)
{
	struct fault first = { 0 };

	for (size_t i = 0; names[i]; i++) {
		void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);

		if (library) {
			*ret_name = names[i];
			return library;
		}
		if (!first.err)
			fault_set(&first, ENOENT, "cannot load %s: %s", names[i], why());
	}
	fault_set(reterr, ENOENT, "%s", first.err ? first.msg : "no library was named");
	return NULL;
}

int dl_open_table(const char *const names[], const struct dl_symbol symbols[], void *table, struct fault *reterr)
{
	const char *name = NULL;
	void *library = open_first(names, &name, reterr);

	if (!library)
		return -ENOENT;
	/* All are looked for before any is stored: a table is whole or untouched. */
	for (const struct dl_symbol *symbol = symbols; symbol->name; symbol++)
		if (!symbol->optional && !find(library, symbol))
			return fault_set(reterr, ELIBACC, "%s has no %s%s%s: too old, or not the library it should be",
					 name, symbol->name, symbol->version ? "@" : "",
					 symbol->version ? symbol->version : "");
	for (const struct dl_symbol *symbol = symbols; symbol->name; symbol++) {
		void *function = find(library, symbol);

		memcpy((char *)table + symbol->offset, &function, sizeof(function));
	}
	return 0;
}
