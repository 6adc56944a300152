// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin of QEMU's TCG: counts the instructions that a guest executes, separately for
 * user space, kernel and modules. Each time the guest executes the instruction of
 * mark.c, the plugin writes a line "USER KERNEL MODULES", the counts since the last
 * line, to the file that out=FILE names. Given blocks=FILE, it also writes that file
 * anew: a line "ADDRESS COUNT" for each block of the kernel and its modules. Between the
 * marks of selftests/testnic/work.h it counts nothing, except for blocks.
 *
 * The guest must have one CPU. QEMU's header is not packaged, so the necessary part of
 * its interface, version 1, is declared here.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../selftests/testnic/work.h"
#include "mark.h"

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum { INLINE_ADD_U64 = 0, CB_NO_REGS = 0 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

typedef void translated_t(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void executed_t(unsigned int, void *);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   translated_t *translated);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op,
					      void *counter, uint64_t value);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    executed_t *executed, int flags,
					    void *data);

EXPORT int qemu_plugin_version = 1;

/* x86-64: the upper half is the kernel's, modules have the end of it. */
#define KERNEL	(1ull << 63)
#define MODULES	0xffffffffc0000000ull

enum { USER_INSNS, KERNEL_INSNS, MODULE_INSNS, CLASSES };

static uint64_t counters[CLASSES];
/* The counters before the present work of a NIC, if is_saved */
static uint64_t saved[CLASSES];
static int is_saved;
static char path[4096], blocks_path[4096];

/*
 * A block of instructions, and how many have been executed since the last mark. The same
 * code may be translated more than once.
 */
struct block {
	uint64_t address;
	uint64_t executed;
	struct block *next;
};

static struct block *blocks;

static void write_blocks(void)
{
	FILE *out = fopen(blocks_path, "w");
	struct block *b;

	for (b = blocks; b; b = b->next) {
		if (out && b->executed)
			fprintf(out, "%" PRIx64 " %" PRIu64 "\n", b->address,
				b->executed);
		b->executed = 0;
	}
	if (out)
		fclose(out);
}

static void count_block(struct qemu_plugin_tb *tb, uint64_t address, size_t insns)
{
	struct block *b = calloc(1, sizeof(*b));

	if (!b)
		return;
	b->address = address;
	b->next = blocks;
	blocks = b;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD_U64, &b->executed,
						 insns);
}

static void mark(unsigned int cpu, void *data)
{
	FILE *out = fopen(path, "a");

	(void)cpu;
	(void)data;
	if (!out)
		return;
	fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		counters[USER_INSNS], counters[KERNEL_INSNS],
		counters[MODULE_INSNS]);
	fclose(out);
	memset(counters, 0, sizeof(counters));
	is_saved = 0;
	if (blocks_path[0])
		write_blocks();
}

static void work_begins(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	memcpy(saved, counters, sizeof(saved));
	is_saved = 1;
}

static void work_ends(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (is_saved)
		memcpy(counters, saved, sizeof(counters));
	is_saved = 0;
}

/* Instructions that mean something, and where */
static const struct {
	uint8_t code[7];
	int class;
	executed_t *executed;
} marks[] = {
	{ { MARK_CODE }, USER_INSNS, mark },
	{ { WORK_BEGINS }, MODULE_INSNS, work_begins },
	{ { WORK_ENDS }, MODULE_INSNS, work_ends },
};

static executed_t *find_mark(const struct qemu_plugin_insn *insn, int class)
{
	size_t i;

	if (qemu_plugin_insn_size(insn) != sizeof(marks[0].code))
		return NULL;
	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (marks[i].class == class &&
		    !memcmp(qemu_plugin_insn_data(insn), marks[i].code,
			    sizeof(marks[i].code)))
			return marks[i].executed;
	}
	return NULL;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t address = qemu_plugin_tb_vaddr(tb);
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	int class = address >= MODULES ? MODULE_INSNS :
		    address >= KERNEL ? KERNEL_INSNS : USER_INSNS;

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD_U64,
						 &counters[class], n);
	if (blocks_path[0] && class != USER_INSNS)
		count_block(tb, address, n);
	for (i = 0; class != KERNEL_INSNS && i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		executed_t *executed = find_mark(insn, class);

		if (executed)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, executed,
							       CB_NO_REGS, NULL);
	}
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
			       char **argv)
{
	int i;

	(void)info;
	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			snprintf(path, sizeof(path), "%s", argv[i] + 4);
		if (!strncmp(argv[i], "blocks=", 7))
			snprintf(blocks_path, sizeof(blocks_path), "%s",
				 argv[i] + 7);
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return path[0] ? 0 : -1;
}
