/* SPDX-License-Identifier: Apache-2.0 */
/* The fact `contact`: see contact.h. */
#include "facts/contact.h"

#include <string.h>

static const char *const fault_names[] = {
	[CONTACT_OK] = "ok",		 [CONTACT_TRANSPORT] = "transport", [CONTACT_HOST_KEY] = "host-key",
	[CONTACT_AUTH] = "auth",	 [CONTACT_NO_AGENT] = "no-agent",   [CONTACT_NOISE] = "noise",
	[CONTACT_VERSION] = "version",	 [CONTACT_SILENT] = "silent",	    [CONTACT_CLOSED] = "closed",
	[CONTACT_PROTOCOL] = "protocol",
};

#define N_FAULTS (sizeof(fault_names) / sizeof(*fault_names))

static void set_text(json_t *fact, const char *key, const char *value)
{
	if (value)
		json_object_set_new(fact, key, json_string(value));
}

void contact_record(struct records *records, const struct contact *contact)
{
	json_t *fact = json_object();

	set_text(fact, "name", contact->name);
	set_text(fact, "fault", fault_names[contact->fault]);
	json_object_set_new(fact, "agent_spoke", json_boolean(contact->agent_spoke));
	set_text(fact, "message", contact->message);
	set_text(fact, "detail", contact->detail);
	set_text(fact, "noise", contact->noise);
	json_object_set_new(fact, "noise_bytes", json_integer((json_int_t)contact->noise_len));
	set_text(fact, "transport", contact->transport);
	set_text(fact, "agent_version", contact->agent_version);
	set_text(fact, "agent_arch", contact->agent_arch);
	json_object_set_new(fact, "deployed", json_boolean(contact->deployed));
	if (contact->connect_ns.err == 0)
		json_object_set_new(fact, "connect_ns", json_integer(contact->connect_ns.val));
	records_put(records, &(struct record){ .kind = RECORD_FACT, .key = "contact", .sample = 1, .json = fact });
	json_decref(fact);
}

static const char *get_text(const json_t *fact, const char *key, struct arena *arena)
{
	const char *value = json_string_value(json_object_get(fact, key));

	return value ? arena_strdup(arena, value) : NULL;
}

/* A name that this version does not know still says that something went wrong: never CONTACT_OK. */
static enum contact_fault fault_by_name(const char *name)
{
	for (size_t i = 0; name && i < N_FAULTS; i++)
		if (!strcmp(name, fault_names[i]))
			return (enum contact_fault)i;
	return CONTACT_PROTOCOL;
}

bool contact_from_records(const struct records *records, struct arena *arena, struct contact *ret)
{
	const struct record *record = records_find(records, RECORD_FACT, "contact", 1);
	const json_t *fact = record ? record->json : NULL;
	const json_t *connect_ns = json_object_get(fact, "connect_ns");
	json_int_t noise = json_integer_value(json_object_get(fact, "noise_bytes"));

	if (!json_is_object(fact))
		return false;
	*ret = (struct contact){
		.name = get_text(fact, "name", arena),
		.fault = fault_by_name(json_string_value(json_object_get(fact, "fault"))),
		.agent_spoke = json_is_true(json_object_get(fact, "agent_spoke")),
		.message = get_text(fact, "message", arena),
		.detail = get_text(fact, "detail", arena),
		.noise = get_text(fact, "noise", arena),
		.noise_len = noise > 0 ? (size_t)noise : 0,
		.transport = get_text(fact, "transport", arena),
		.agent_version = get_text(fact, "agent_version", arena),
		.agent_arch = get_text(fact, "agent_arch", arena),
		.deployed = json_is_true(json_object_get(fact, "deployed")),
		.connect_ns = json_is_integer(connect_ns) ? num_of(json_integer_value(connect_ns), "time until HELLO")
							  : num_err(VALUE_NOT_ASKED, NULL),
	};
	if (!ret->name)
		ret->name = "?";
	return true;
}
