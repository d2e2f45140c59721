// SPDX-License-Identifier: Apache-2.0
/*
 * What a plugged module or cable says of itself. Three layouts: SFF-8472 (SFP), SFF-8636 (QSFP), CMIS (QSFP-DD, OSFP and
 * newer QSFP). Compliance bytes are given as they are, too: direct attach cables fill the old ones with whatever their
 * vendor had, so only a reader that knows the platform can tell which to believe.
 */
#include <string.h>

#include "facts/source_live.h"

enum layout { LAYOUT_NONE, LAYOUT_SFF_8472, LAYOUT_SFF_8636, LAYOUT_CMIS };

/* SFF-8024 table 4-1: identifiers of the first byte. */
static const struct {
	uint8_t id;
	const char *form;
	enum layout layout;
} forms[] = {
	{ 0x03, "SFP", LAYOUT_SFF_8472 },     { 0x0c, "QSFP", LAYOUT_SFF_8636 },    { 0x0d, "QSFP+", LAYOUT_SFF_8636 },
	{ 0x11, "QSFP28", LAYOUT_SFF_8636 },  { 0x18, "QSFP-DD", LAYOUT_CMIS },	    { 0x19, "OSFP", LAYOUT_CMIS },
	{ 0x1a, "SFP-DD", LAYOUT_CMIS },      { 0x1b, "DSFP", LAYOUT_CMIS },	    { 0x1e, "QSFP CMIS", LAYOUT_CMIS },
	{ 0x1f, "SFP-DD CMIS", LAYOUT_CMIS }, { 0x20, "SFP+ CMIS", LAYOUT_CMIS },
};

/* An ASCII field, padded with blanks, into a JSON text; whatever is not printable becomes '?'. */
static void set_field(json_t *json, const char *name, const uint8_t *field, size_t len)
{
	char text[32];

	while (len > 0 && (field[len - 1] == ' ' || field[len - 1] == '\0'))
		len--;
	for (size_t i = 0; i < len; i++)
		text[i] = field[i] >= 0x20 && field[i] < 0x7f ? (char)field[i] : '?';
	text[len] = '\0';
	json_object_set_new(json, name, json_string(text));
}

static void set_length(json_t *json, unsigned cm)
{
	if (cm)
		json_object_set_new(json, "length_cm", json_integer(cm));
}

static void set_kind(json_t *json, const char *kind)
{
	json_object_set_new(json, "kind", json_string(kind));
}

static void decode_sff_8472(json_t *json, const uint8_t *page)
{
	bool is_passive = page[8] & 0x04, is_active = page[8] & 0x08;

	set_field(json, "vendor", page + 20, 16);
	set_field(json, "part", page + 40, 16);
	set_field(json, "serial", page + 68, 16);
	set_kind(json, is_passive ? "passive copper" : is_active ? "active cable" : "optical");
	if (is_passive || is_active)
		set_length(json, page[18] * 100u);
}

/* Byte 147, upper half: transmitter technology. */
static const char *kind_sff_8636(uint8_t technology)
{
	switch (technology >> 4) {
	case 0xa:
	case 0xb:
		return "passive copper";
	case 0xc:
	case 0xd:
	case 0xe:
	case 0xf:
		return "active copper";
	default:
		return "optical";
	}
}

static void decode_sff_8636(json_t *json, const uint8_t *page)
{
	const char *kind = kind_sff_8636(page[147]);

	set_field(json, "vendor", page + 148, 16);
	set_field(json, "part", page + 168, 16);
	set_field(json, "serial", page + 196, 16);
	/* An active optical cable is an optical transmitter with a fixed cable: no separable connector (0x23). */
	if (strcmp(kind, "optical") == 0 && page[130] == 0x23)
		kind = "active optical";
	set_kind(json, kind);
	set_length(json, page[146] * 100u);
	json_object_set_new(json, "compliance", json_integer(page[131]));
	json_object_set_new(json, "extended_compliance", json_integer(page[192]));
	json_object_set_new(json, "nominal_rate_extended", json_integer(page[222]));
}

/* Byte 85: module media type. */
static const char *kind_cmis(uint8_t media)
{
	switch (media) {
	case 1:
	case 2:
		return "optical";
	case 3:
		return "passive copper";
	case 4:
		return "active cable";
	default:
		return "other";
	}
}

static void decode_cmis(json_t *json, const uint8_t *page)
{
	static const unsigned scale_cm[] = { 10, 100, 1000, 10000 };

	set_field(json, "vendor", page + 129, 16);
	set_field(json, "part", page + 148, 16);
	set_field(json, "serial", page + 166, 16);
	set_kind(json, kind_cmis(page[85]));
	set_length(json, (page[202] & 0x3f) * scale_cm[page[202] >> 6]);
}

json_t *module_eeprom_decode(const uint8_t page[256])
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		json_t *json;

		if (forms[i].id != page[0])
			continue;
		json = json_object();
		json_object_set_new(json, "form", json_string(forms[i].form));
		if (forms[i].layout == LAYOUT_SFF_8472)
			decode_sff_8472(json, page);
		else if (forms[i].layout == LAYOUT_SFF_8636)
			decode_sff_8636(json, page);
		else
			decode_cmis(json, page);
		return json;
	}
	return NULL;
}
