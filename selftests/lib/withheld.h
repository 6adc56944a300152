/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that a process withholds from page faults (userfaultfd) */
#ifndef SELFTESTS_WITHHELD_H
#define SELFTESTS_WITHHELD_H

#include <stdbool.h>
#include <stddef.h>

/* Return: true if this process may withhold memory. */
bool can_withhold(void);
/*
 * Page faults in @mem, whose pages nothing has touched, wait until the userfaultfd that
 * is returned provides the pages, or is closed. Exits on failure.
 */
int withhold(void *mem, size_t size);

#endif
