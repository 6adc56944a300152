/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Status of offloads in sysfs
 */
#ifndef VERVE_SERVICES_H
#define VERVE_SERVICES_H

struct ib_device;

/* Add the directory to a device before its registration. Context: process. */
void verve_services_show(struct ib_device *ibdev);

#endif
