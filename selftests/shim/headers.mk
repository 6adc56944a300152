# SPDX-License-Identifier: GPL-2.0-only
#
# Builds files of the driver for user space: the kernel's headers that they
# include lead to the stand-ins beside this file, or to user space's own.
#
# Objects are made below BUILD, those of the driver in verve/, by their path.
# FORWARDS are what they depend on, TRANSPORT what is needed to run engines.

SHIM := $(dir $(lastword $(MAKEFILE_LIST)))
VERVE ?= $(SHIM)../../drivers/infiniband/sw/verve
COMPAT ?= $(SHIM)../../include/compat
OUTPUT ?= $(CURDIR)
BUILD ?= $(OUTPUT)/build

# As the kernel builds: strict, but for what its style implies.
CFLAGS ?= -O1 -g
SANITIZE ?= -fsanitize=address,undefined -fno-sanitize-recover=all
SHIM_CFLAGS := -std=gnu11 -Wall -Wextra -Werror -Wno-sign-compare \
	-Wno-unused-parameter -Wno-missing-field-initializers \
	-MMD -MP

# Each name leads to user space's header of that name, if there is one, and
# then to the stand-in.
KERNEL_HEADERS := linux/align.h linux/atomic.h linux/bitops.h \
	linux/bottom_half.h linux/build_bug.h linux/compiler.h linux/completion.h \
	linux/crc32.h linux/errno.h linux/hrtimer.h linux/idr.h linux/in6.h \
	linux/iosys-map.h linux/irqflags.h linux/jiffies.h linux/limits.h linux/list.h linux/llist.h \
	linux/local_lock.h linux/log2.h linux/math64.h linux/minmax.h linux/mm.h \
	linux/moduleparam.h linux/mutex.h linux/netdevice.h linux/percpu.h \
	linux/rcupdate.h linux/interrupt.h \
	linux/refcount.h linux/rhashtable.h linux/slab.h linux/spinlock.h \
	linux/string.h linux/time64.h linux/typecheck.h linux/ktime.h linux/types.h \
	linux/vmalloc.h linux/workqueue.h linux/xarray.h
TRACE_HEADERS := linux/tracepoint.h trace/define_trace.h
VERBS_HEADERS := rdma/ib_addr.h rdma/ib_mad.h rdma/ib_pack.h rdma/ib_umem.h \
	rdma/ib_verbs.h
FORWARDS := $(addprefix $(BUILD)/include/,$(KERNEL_HEADERS) $(TRACE_HEADERS) \
	$(VERBS_HEADERS) verve/crc32.h)

SHIM_CPPFLAGS := -I$(SHIM) -I$(BUILD)/include

define shim_compile
	@printf '  CC      %s\n' $(notdir $@)
	@mkdir -p $(dir $@)
	@$(CC) $(SHIM_CPPFLAGS) $(CPPFLAGS) $(CFLAGS) $(SHIM_CFLAGS) $(SANITIZE) \
		-c $< -o $@
endef

define shim_link
	@printf '  LD      %s\n' $(notdir $@)
	@$(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) $^ -o $@
endef

# What a QP's engine consists of, and what it needs of other layers
TRANSPORT := $(patsubst %,transport/%,engine requester completer responder \
	fetch flush receive message ack rd_atomic recovery ooo rtt timer verdict local \
	datagram dispatch stall pair congestion dcqcn) \
	offload/rc/ddp offload/trust path/burst path/loop memory/iter $(patsubst %,queue/%,opdef ring rq wqe) wire/headers \
	wire/opcode

$(BUILD)/verve/%.o: $(VERVE)/%.c | $(FORWARDS)
	$(shim_compile)

$(BUILD)/%.o: %.c | $(FORWARDS)
	$(shim_compile)

# The only one of compat that is not of the kernel's headers
$(BUILD)/include/verve/%.h:
	@mkdir -p $(dir $@)
	@printf '#include "%s"\n' $(abspath $(COMPAT)/verve/$*.h) > $@

$(BUILD)/include/%.h:
	@mkdir -p $(dir $@)
	@printf '#if __has_include_next(<%s>)\n#include_next <%s>\n#endif\n' \
		$*.h $*.h > $@
	@printf '#include <%s>\n' $(or $(if $(filter $*.h,$(TRACE_HEADERS)),tracepoint.h),$(if \
		$(filter rdma/%,$*),verbs.h,kernel.h)) >> $@

.SECONDARY: $(FORWARDS)
