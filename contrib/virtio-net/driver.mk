# SPDX-License-Identifier: GPL-2.0-only
# The Kbuild file of the patched driver. TOP: Verve's tree

ccflags-y := -I$(TOP)/include -I$(TOP)/contrib/virtio-net

obj-m := virtio_net.o
ifndef CONFIG_NET_FAILOVER
obj-m += net_failover.o
endif
ifndef CONFIG_FAILOVER
obj-m += failover.o
endif
