# SPDX-License-Identifier: GPL-2.0-only
#
# Included by the Makefile of each directory of tests, after its lists:
# TEST_PROGS (scripts that are tests), TEST_GEN_FILES (C programs they call), and
# TEST_ONCE, those of TEST_PROGS that one of several kernels runs for all (ONLY in `run`):
# what they test does not depend on the kernel, or is tested by others, too.

HERE := $(dir $(lastword $(MAKEFILE_LIST)))

# Programs that are here because tests of several directories run them: a directory that
# needs one names it as if it were its own. All other files are compiled once for
# all directories, and linked into each program.
PROGRAMS := load
LOCAL_SRCS := $(filter-out $(PROGRAMS:%=$(HERE)%.c),$(wildcard $(HERE)*.c))

CFLAGS += -O2 -Wall -Wextra -Wno-unused-parameter
LDLIBS += -libverbs
TEST_INCLUDES := $(wildcard $(HERE)*.sh $(HERE)*.py)
LOCAL_HDRS := $(wildcard $(HERE)*.h)

vpath %.c $(HERE)

ifneq ($(wildcard $(HERE)../../lib.mk),)
include $(HERE)../../lib.mk
else
include $(HERE)standalone.mk
endif

LOCAL_OBJS := $(LOCAL_SRCS:$(HERE)%.c=$(OUTPUT)/../lib/%.o)
EXTRA_CLEAN += $(LOCAL_OBJS)

$(LOCAL_OBJS): $(OUTPUT)/../lib/%.o: $(HERE)%.c $(LOCAL_HDRS)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $(CPPFLAGS) -c $< -o $@

$(TEST_GEN_FILES): $(LOCAL_OBJS)
