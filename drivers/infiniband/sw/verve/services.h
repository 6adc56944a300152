/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the netdev does for a device, in sysfs
 */
#ifndef VERVE_SERVICES_H
#define VERVE_SERVICES_H

struct ib_device;

/* Have a directory for it; before the device is registered. Process. */
void verve_services_show(struct ib_device *ibdev);

#endif
