/* SPDX-License-Identifier: Apache-2.0 */
/* Width of one character on a terminal; text_columns() of core/text.h is what others want. */
#ifndef SPARKFAB_CORE_TEXT_WIDTH_H
#define SPARKFAB_CORE_TEXT_WIDTH_H

#include <stdint.h>

/* 0, 1 or 2. For printable characters: control characters count as 1 here. */
unsigned int text_char_columns(uint32_t c);

#endif
