// SPDX-License-Identifier: Apache-2.0
/*
 * Results as one JSON document, docs/results.schema.json. For programs: base units, lower-case enums, a fixed order.
 *
 * Written as it goes, one finding a line: a tree of the whole document took 1.6 GB for a thousand hosts. Lines also suit
 * grep and diff.
 */
#include "report/report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/text.h"

#define NS_PER_MS 1000000LL

struct writer {
	struct buf *out;
	size_t n_members, n_items; /* of the document; of the array that is open */
	bool failed; /* out of memory: half a document must not look like a whole one */
};

static int dump_to_buf(const char *data, size_t len, void *ctx)
{
	buf_add(ctx, data, len);
	return 0;
}

/* Takes the value. ASCII only: \uXXXX cannot steer a terminal, and says the same to every reader. */
static void dump(struct writer *writer, json_t *value)
{
	if (!writer->out->truncated &&
	    json_dump_callback(value, dump_to_buf, writer->out, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15)))
		writer->failed = true;
	json_decref(value);
}

static void member_begin(struct writer *writer, const char *key)
{
	buf_addf(writer->out, "%s  \"%s\": ", writer->n_members++ ? ",\n" : "{\n", key);
}

static void member(struct writer *writer, const char *key, json_t *value)
{
	member_begin(writer, key);
	dump(writer, value);
}

static void array_begin(struct writer *writer, const char *key)
{
	member_begin(writer, key);
	buf_addc(writer->out, '[');
	writer->n_items = 0;
}

static void item(struct writer *writer, json_t *value)
{
	buf_adds(writer->out, writer->n_items++ ? ",\n    " : "\n    ");
	dump(writer, value);
}

static void array_end(struct writer *writer)
{
	buf_adds(writer->out, writer->n_items ? "\n  ]" : "]");
}

static void set(struct writer *writer, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value))
		writer->failed = true;
}

static void append(struct writer *writer, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value))
		writer->failed = true;
}

/* An empty object or array that is already in its place, so that an error needs no cleaning up. */
static json_t *nest(struct writer *writer, json_t *object, const char *key, json_t *value)
{
	set(writer, object, key, value);
	return value;
}

static json_t *nest_last(struct writer *writer, json_t *array, json_t *value)
{
	append(writer, array, value);
	return value;
}

/* JSON holds only UTF-8; what is not becomes \xNN, as in the terminal report. NULL becomes null. */
static json_t *string(const char *str)
{
	json_t *value;

	if (!str)
		return json_null();
	value = json_string(str);
	if (!value) {
		cleanup_buf struct buf visible = BUF_INIT;

		text_add_visible(&visible, str, strlen(str));
		value = json_string(buf_str(&visible));
	}
	return value;
}

static json_t *utc(int64_t real_ns)
{
	char text[32];

	return real_ns < 0 ? json_null() : json_string(clock_rfc3339(real_ns, text, sizeof(text)));
}

/* Units in which kernel and drivers speak, and the base unit of each. */
static const struct base_unit {
	const char *unit, *base;
	json_int_t times, divided_by;
} base_units[] = {
	{ "Mbit/s", "bits/s", 1000000, 1 },
	{ "MT/s", "transfers/s", 1000000, 1 },
	{ "cm", "m", 1, 100 },
};

static const struct base_unit *base_unit_of(const char *unit)
{
	static const struct base_unit itself = { .times = 1, .divided_by = 1 };

	for (size_t i = 0; unit && i < sizeof(base_units) / sizeof(base_units[0]); i++)
		if (!strcmp(base_units[i].unit, unit))
			return &base_units[i];
	return &itself;
}

static json_t *base_value(int64_t val, const struct base_unit *unit)
{
	json_int_t scaled;

	if (unit->divided_by != 1 || __builtin_mul_overflow((json_int_t)val, unit->times, &scaled))
		return json_real((double)val * (double)unit->times / (double)unit->divided_by);
	return json_integer(scaled);
}

static const char *base_unit(const char *unit)
{
	const char *base = base_unit_of(unit)->base;

	return base ? base : unit;
}

/* A value that was not read is null, and "error" says why: never 0. */
static void set_num(struct writer *writer, json_t *object, struct num num, const char *unit)
{
	set(writer, object, "value", num.err ? json_null() : base_value(num.val, base_unit_of(unit)));
	if (num.err)
		set(writer, object, "error", json_string(value_err_name(num.err)));
}

static void set_text(struct writer *writer, json_t *object, struct text text)
{
	set(writer, object, "value", text.err ? json_null() : string(text.val));
	if (text.err)
		set(writer, object, "error", json_string(value_err_name(text.err)));
}

static void add_evidence(struct writer *writer, json_t *array, const struct evidence *evidence)
{
	json_t *object = nest_last(writer, array, json_object());

	set(writer, object, "host", string(evidence->host));
	set(writer, object, "name", string(evidence->name));
	if (evidence->is_text)
		set_text(writer, object, evidence->text);
	else
		set_num(writer, object, evidence->num, evidence->unit);
	set(writer, object, "unit", string(evidence->is_text ? NULL : base_unit(evidence->unit)));
	set(writer, object, "origin", string(evidence->is_text ? evidence->text.origin : evidence->num.origin));
}

/* In the comment behind a command even a foreign newline must not end the line. */
static void add_comment(struct buf *line, const struct remedy *remedy)
{
	buf_adds(line, remedy->is_persistent ? "  # survives a reboot" : "  # now");
	if (!remedy->disturbs)
		return;
	buf_adds(line, "; ");
	text_add_visible(line, remedy->disturbs, strlen(remedy->disturbs));
}

static void add_remedy(struct writer *writer, json_t *array, const struct remedy *remedy)
{
	const char *const texts[] = { remedy->command, remedy->advice };

	for (size_t i = 0; i < 2; i++) {
		cleanup_buf struct buf line = BUF_INIT;

		if (!texts[i])
			continue;
		buf_addf(&line, "%s%s%s", remedy->host ? remedy->host : "", remedy->host ? ": " : "", texts[i]);
		if (texts[i] == remedy->command)
			add_comment(&line, remedy);
		append(writer, array, string(buf_str(&line)));
	}
}

static void add_finding(struct writer *writer, const struct finding *finding)
{
	json_t *object = json_object(), *part;

	set(writer, object, "check", string(finding->check));
	set(writer, object, "verdict", json_string(verdict_name(finding->verdict)));
	set(writer, object, "required", json_boolean(finding->required));
	part = nest(writer, object, "hosts", json_array());
	for (size_t i = 0; i < finding->n_hosts; i++)
		append(writer, part, string(finding->hosts[i]));
	set(writer, object, "subject", string(finding->subject));
	part = nest(writer, object, "evidence", json_array());
	for (size_t i = 0; i < finding->n_evidence; i++)
		add_evidence(writer, part, &finding->evidence[i]);
	if (finding->expected) {
		part = nest(writer, object, "expected", json_object());
		set(writer, part, "text", string(finding->expected));
		set(writer, part, "source", string(finding->expected_source));
	} else {
		set(writer, object, "expected", json_null());
	}
	set(writer, object, "message", string(finding->message));
	part = nest(writer, object, "remedy", json_array());
	for (size_t i = 0; i < finding->n_remedies; i++)
		add_remedy(writer, part, &finding->remedies[i]);
	item(writer, object);
}

static void add_host(struct writer *writer, const struct results_host *host)
{
	json_t *object = json_object();

	set(writer, object, "name", string(host->name));
	set(writer, object, "role", string(host->role));
	set(writer, object, "answered", json_boolean(host->answered));
	set(writer, object, "hostname", string(host->hostname));
	set(writer, object, "kernel", string(host->kernel));
	set(writer, object, "os", string(host->os));
	set(writer, object, "product", string(host->product));
	set(writer, object, "arch", string(host->arch));
	item(writer, object);
}

/* Rate and MTU of the ends are texts for people; programs find both, in base units, in the evidence of findings. */
static void add_rail(struct writer *writer, const struct rail_picture *rail)
{
	json_t *object = json_object(), *ends;

	set(writer, object, "name", string(rail->name));
	set(writer, object, "proven", json_boolean(rail->is_proven));
	set(writer, object, "broken", json_boolean(rail->is_broken));
	set(writer, object, "note", string(rail->note));
	ends = nest(writer, object, "ends", json_array());
	for (size_t i = 0; i < rail->n_ends; i++) {
		const struct rail_picture_end *end = &rail->ends[i];
		json_t *part = nest_last(writer, ends, json_object());

		set(writer, part, "host", string(end->host));
		set(writer, part, "port", string(end->port));
		set(writer, part, "netdev", string(end->netdev));
		set(writer, part, "address", string(end->addr));
		set(writer, part, "active", json_boolean(end->active));
	}
	item(writer, object);
}

static void add_measurement(struct writer *writer, const struct measurement *measurement)
{
	json_t *object = json_object(), *end;

	set(writer, object, "name", string(measurement->name));
	end = nest(writer, object, "from", json_object());
	set(writer, end, "host", string(measurement->from_host));
	set(writer, end, "port", string(measurement->from_port));
	end = nest(writer, object, "to", json_object());
	set(writer, end, "host", string(measurement->to_host));
	set(writer, end, "port", string(measurement->to_port));
	set_num(writer, object, measurement->value, measurement->unit);
	set(writer, object, "unit", string(base_unit(measurement->unit)));
	set(writer, object, "origin", string(measurement->value.origin));
	item(writer, object);
}

static void add_head(struct writer *writer, const struct results *results)
{
	json_t *tool = json_object(), *profile = json_object();

	member(writer, "format", json_string("sparkfab.results/1"));
	set(writer, tool, "name", json_string("sparkfab"));
	set(writer, tool, "version", json_string(SPARKFAB_VERSION));
	member(writer, "tool", tool);
	set(writer, profile, "name", string(results->profile));
	set(writer, profile, "why", string(results->profile_why));
	member(writer, "profile", profile);
	member(writer, "level", json_string(level_name(results->level)));
	array_begin(writer, "not_run");
	for (size_t i = 0; i < results->n_not_run; i++)
		item(writer, string(results->not_run[i]));
	for (size_t i = 0; i < results->n_not_compared; i++)
		item(writer, string(results->not_compared[i]));
	array_end(writer);
	member(writer, "started", utc(results->started_real_ns));
	member(writer, "duration_s", json_real((double)(results->duration_ns / NS_PER_MS) / 1000));
	member(writer, "verdict", json_string(verdict_name(results->verdict)));
	member(writer, "verdict_why", string(results->verdict_why));
}

static void add_body(struct writer *writer, const struct results *results)
{
	static const enum verdict order[] = { VERDICT_PASS, VERDICT_WARN, VERDICT_FAIL, VERDICT_SKIP, VERDICT_UNKNOWN };
	json_t *counts = json_object();

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		set(writer, counts, verdict_name(order[i]), json_integer((json_int_t)results->counts[order[i]]));
	member(writer, "counts", counts);
	array_begin(writer, "hosts");
	for (size_t i = 0; i < results->n_hosts; i++)
		add_host(writer, &results->hosts[i]);
	array_end(writer);
	array_begin(writer, "rails");
	for (size_t i = 0; i < results->n_rails; i++)
		add_rail(writer, &results->rails[i]);
	array_end(writer);
	array_begin(writer, "findings");
	for (size_t i = 0; i < results->n_findings && !writer->out->truncated; i++)
		add_finding(writer, &results->findings[i]);
	array_end(writer);
	array_begin(writer, "measurements");
	for (size_t i = 0; i < results->n_measurements; i++)
		add_measurement(writer, &results->measurements[i]);
	array_end(writer);
}

void report_json(const struct results *results, struct buf *out)
{
	struct writer writer = { .out = out };

	add_head(&writer, results);
	add_body(&writer, results);
	buf_adds(out, "\n}\n");
	if (writer.failed)
		out->truncated = true;
}
