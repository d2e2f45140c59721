/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small JSON Schema validator (draft 2020-12, the keywords that docs/results.schema.json uses) for tests. A keyword that it does not know is an
 * error: a schema must not promise what no test looks at.
 *
 * schema_check() returns NULL if the document fits, else where and why it does not, in `reason`.
 */
#ifndef SPARKFAB_TESTS_SCHEMA_CHECK_H
#define SPARKFAB_TESTS_SCHEMA_CHECK_H

#include <jansson.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct schema_check {
	json_t *root;
	char reason[512];
};

static bool schema_fits(struct schema_check *check, json_t *schema, json_t *value, const char *path);

static bool schema_no(struct schema_check *check, const char *path, const char *keyword, const char *what)
{
	snprintf(check->reason, sizeof(check->reason), "%s: %s: %s", *path ? path : "/", keyword, what ? what : "");
	return false;
}

static bool schema_is_type(const char *type, const json_t *value)
{
	if (!strcmp(type, "number"))
		return json_is_number(value);
	if (!strcmp(type, "integer"))
		return json_is_integer(value);
	if (!strcmp(type, "string"))
		return json_is_string(value);
	if (!strcmp(type, "boolean"))
		return json_is_boolean(value);
	if (!strcmp(type, "null"))
		return json_is_null(value);
	if (!strcmp(type, "array"))
		return json_is_array(value);
	return !strcmp(type, "object") && json_is_object(value);
}

static bool schema_type(struct schema_check *check, json_t *arg, json_t *value, const char *path)
{
	size_t i;
	json_t *type;

	if (json_is_string(arg))
		return schema_is_type(json_string_value(arg), value) || schema_no(check, path, "type", json_string_value(arg));
	json_array_foreach(arg, i, type)
		if (schema_is_type(json_string_value(type), value))
			return true;
	return schema_no(check, path, "type", "none of those allowed");
}

static bool schema_enum(struct schema_check *check, json_t *arg, json_t *value, const char *path)
{
	size_t i;
	json_t *one;

	json_array_foreach(arg, i, one)
		if (json_equal(one, value))
			return true;
	return schema_no(check, path, "enum", json_string_value(value));
}

static bool schema_required(struct schema_check *check, json_t *arg, json_t *value, const char *path)
{
	size_t i;
	json_t *key;

	json_array_foreach(arg, i, key)
		if (json_is_object(value) && !json_object_get(value, json_string_value(key)))
			return schema_no(check, path, "required", json_string_value(key));
	return true;
}

static bool schema_properties(struct schema_check *check, json_t *arg, json_t *value, const char *path)
{
	const char *key;
	json_t *schema;

	json_object_foreach(arg, key, schema) {
		json_t *member = json_object_get(value, key);
		char below[256];

		snprintf(below, sizeof(below), "%s/%s", path, key);
		if (member && !schema_fits(check, schema, member, below))
			return false;
	}
	return true;
}

static bool schema_additional(struct schema_check *check, json_t *schema, json_t *value, const char *path)
{
	const char *key;
	json_t *member;

	if (!json_is_false(json_object_get(schema, "additionalProperties")))
		return schema_no(check, path, "additionalProperties", "only false is known here");
	json_object_foreach(value, key, member)
		if (!json_object_get(json_object_get(schema, "properties"), key))
			return schema_no(check, path, "additionalProperties", key);
	return true;
}

static bool schema_items(struct schema_check *check, json_t *arg, json_t *value, const char *path)
{
	size_t i;
	json_t *item;

	json_array_foreach(value, i, item) {
		char below[256];

		snprintf(below, sizeof(below), "%s/%zu", path, i);
		if (!schema_fits(check, arg, item, below))
			return false;
	}
	return true;
}

static bool schema_unique(struct schema_check *check, json_t *value, const char *path)
{
	for (size_t i = 0; i < json_array_size(value); i++)
		for (size_t k = 0; k < i; k++)
			if (json_equal(json_array_get(value, i), json_array_get(value, k)))
				return schema_no(check, path, "uniqueItems", "repeated");
	return true;
}

static bool schema_pattern(struct schema_check *check, json_t *arg, json_t *value, const char *path)
{
	regex_t regex;
	bool fits;

	if (!json_is_string(value))
		return true;
	if (regcomp(&regex, json_string_value(arg), REG_EXTENDED | REG_NOSUB))
		return schema_no(check, path, "pattern", "no POSIX expression");
	fits = !regexec(&regex, json_string_value(value), 0, NULL, 0);
	regfree(&regex);
	return fits || schema_no(check, path, "pattern", json_string_value(value));
}

static bool schema_ref(struct schema_check *check, json_t *arg, json_t *value, const char *path)
{
	const char *ref = json_string_value(arg);
	json_t *target;

	if (strncmp(ref, "#/$defs/", 8) != 0)
		return schema_no(check, path, "$ref", "only #/$defs/NAME is known here");
	target = json_object_get(json_object_get(check->root, "$defs"), ref + 8);
	return target ? schema_fits(check, target, value, path) : schema_no(check, path, "$ref", ref);
}

/* allOf, anyOf */
static bool schema_combine(struct schema_check *check, const char *keyword, json_t *arg, json_t *value, const char *path)
{
	bool all = !strcmp(keyword, "allOf");
	size_t i;
	json_t *schema;

	json_array_foreach(arg, i, schema)
		if (schema_fits(check, schema, value, path) != all)
			return !all;
	return all;
}

static bool schema_if(struct schema_check *check, json_t *schema, json_t *value, const char *path)
{
	bool condition = schema_fits(check, json_object_get(schema, "if"), value, path);
	json_t *then = json_object_get(schema, condition ? "then" : "else");

	return !then || schema_fits(check, then, value, path);
}

static bool schema_is_annotation(const char *keyword)
{
	/* then and else belong to if, and are judged there */
	static const char *const names[] = { "$schema", "$id", "$defs", "title", "description", "format", "then", "else" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], keyword))
			return true;
	return false;
}

static bool schema_keyword(struct schema_check *check, json_t *schema, const char *keyword, json_t *value, const char *path)
{
	json_t *arg = json_object_get(schema, keyword);
	static const struct {
		const char *keyword;
		bool (*judge)(struct schema_check *check, json_t *arg, json_t *value, const char *path);
	} simple[] = {
		{ "type", schema_type }, { "enum", schema_enum }, { "required", schema_required }, { "items", schema_items },
		{ "properties", schema_properties }, { "pattern", schema_pattern }, { "$ref", schema_ref },
	};

	for (size_t i = 0; i < sizeof(simple) / sizeof(simple[0]); i++)
		if (!strcmp(simple[i].keyword, keyword))
			return simple[i].judge(check, arg, value, path);
	if (schema_is_annotation(keyword))
		return true;
	if (!strcmp(keyword, "const"))
		return json_equal(arg, value) || schema_no(check, path, keyword, json_string_value(value));
	if (!strcmp(keyword, "additionalProperties"))
		return schema_additional(check, schema, value, path);
	if (!strcmp(keyword, "minimum"))
		return json_number_value(value) >= json_number_value(arg) || schema_no(check, path, keyword, "");
	if (!strcmp(keyword, "minItems"))
		return json_array_size(value) >= (size_t)json_integer_value(arg) || schema_no(check, path, keyword, "");
	if (!strcmp(keyword, "uniqueItems"))
		return schema_unique(check, value, path);
	if (!strcmp(keyword, "allOf") || !strcmp(keyword, "anyOf"))
		return schema_combine(check, keyword, arg, value, path);
	if (!strcmp(keyword, "not"))
		return !schema_fits(check, arg, value, path) || schema_no(check, path, keyword, "");
	if (!strcmp(keyword, "if"))
		return schema_if(check, schema, value, path);
	return schema_no(check, path, keyword, "a keyword that the test's validator does not know");
}

static bool schema_fits(struct schema_check *check, json_t *schema, json_t *value, const char *path)
{
	const char *keyword;
	json_t *arg;

	json_object_foreach(schema, keyword, arg)
		if (!schema_keyword(check, schema, keyword, value, path))
			return false;
	return true;
}

static const char *schema_check(struct schema_check *check, json_t *schema, json_t *value)
{
	check->root = schema;
	check->reason[0] = '\0';
	return schema_fits(check, schema, value, "") ? NULL : check->reason;
}

#endif
