/* SPDX-License-Identifier: Apache-2.0 */
/* Exit codes: a contract (README, design 9). 0 to 3 grow with severity, so that a fleet tool may take the largest. */
#ifndef SPARKFAB_RESULTS_EXIT_CODES_H
#define SPARKFAB_RESULTS_EXIT_CODES_H

enum exit_code {
	EXIT_CODE_PASS = 0,
	EXIT_CODE_WARN = 1,
	EXIT_CODE_FAIL = 2,
	EXIT_CODE_UNKNOWN = 3,
	EXIT_CODE_USAGE = 64,
	EXIT_CODE_INTERNAL = 70,
	EXIT_CODE_IO = 74,
	EXIT_CODE_BUSY = 75,
	EXIT_CODE_PERMISSION = 77,
	EXIT_CODE_CONFIG = 78,
};

#endif
