# SPDX-License-Identifier: GPL-2.0-only
#
# What the tests need of a kernel tree's tools/testing/selftests/lib.mk.

ifneq ($(OUTPUT),)
TEST_GEN_FILES := $(addprefix $(OUTPUT)/,$(TEST_GEN_FILES))
else
OUTPUT := $(CURDIR)
TEST_GEN_FILES := $(addprefix $(CURDIR)/,$(TEST_GEN_FILES))
endif

CFLAGS += -D_GNU_SOURCE=

all: $(TEST_GEN_FILES)

$(OUTPUT)/%: %.c $(LOCAL_HDRS)
	@printf '  CC      %s\n' $(notdir $@)
	@$(CC) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) $(filter %.c %.o,$^) $(LDLIBS) -o $@

run_tests: all
	@ONCE="$(TEST_ONCE)" $(HERE)run $(notdir $(CURDIR)) $(OUTPUT) $(TEST_PROGS)

install: all
	@mkdir -p $(INSTALL_PATH) $(INSTALL_PATH)/../lib
	@cp $(TEST_PROGS) $(TEST_PROGS_EXTENDED) $(TEST_FILES) $(TEST_GEN_FILES) \
		$(wildcard settings) $(INSTALL_PATH)/
	@cp $(TEST_INCLUDES) $(HERE)run $(INSTALL_PATH)/../lib/

emit_tests:
	@for test in $(TEST_PROGS); do echo "$(COLLECTION):$$test"; done

clean:
	@rm -f $(TEST_GEN_FILES) $(EXTRA_CLEAN)

.PHONY: all clean install run_tests emit_tests
