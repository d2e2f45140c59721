/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in profiles' texts; the table is generated from profiles/ and ends with a NULL name. */
#ifndef SPARKFAB_RULES_PROFILE_DATA_H
#define SPARKFAB_RULES_PROFILE_DATA_H

struct profile_data {
	const char *name;
	const char *text;
};

extern const struct profile_data profile_data[];

#endif
