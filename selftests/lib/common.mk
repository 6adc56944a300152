# SPDX-License-Identifier: GPL-2.0-only
#
# Included by the Makefile of each directory of tests, after its lists:
# TEST_PROGS (scripts that are tests), TEST_GEN_FILES (C programs they call), and
# TEST_ONCE, those of TEST_PROGS that several kernels may share (TURN in `run`): what
# they test does not depend on the kernel, or is tested by others, too.

HERE := $(dir $(lastword $(MAKEFILE_LIST)))

CFLAGS += -O2 -Wall -Wextra -Wno-unused-parameter
LDLIBS += -libverbs
TEST_INCLUDES := $(wildcard $(HERE)*.sh)
LOCAL_HDRS := $(wildcard $(HERE)*.h)

ifneq ($(wildcard $(HERE)../../lib.mk),)
include $(HERE)../../lib.mk
else
include $(HERE)standalone.mk
endif

$(TEST_GEN_FILES): $(wildcard $(HERE)*.c)
