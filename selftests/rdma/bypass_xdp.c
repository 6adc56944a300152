// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: bypass_xdp NETDEV COMMAND...
 *
 * Runs COMMAND while NETDEV has an XDP program, which passes all packets.
 */
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int load(void)
{
	/* r0 = XDP_PASS; exit */
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insns = (uintptr_t)insns,
		.insn_cnt = 2,
		.license = (uintptr_t)"GPL",
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

/* The link, and with it the attachment, lasts as long as its file is open. */
static int attach(int program, const char *netdev)
{
	union bpf_attr attr = {
		.link_create.prog_fd = program,
		.link_create.target_ifindex = if_nametoindex(netdev),
		.link_create.attach_type = BPF_XDP,
		/* A veth's own mode has a limit of the MTU. */
		.link_create.flags = XDP_FLAGS_SKB_MODE,
	};

	return bpf(BPF_LINK_CREATE, &attr);
}

int main(int argc, char **argv)
{
	int program, status;
	pid_t pid;

	if (argc < 3)
		return 2;
	program = load();
	if (program < 0 || attach(program, argv[1]) < 0) {
		perror("bpf");
		return 1;
	}
	/* The file is closed on exec. */
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	return pid < 0 || waitpid(pid, &status, 0) < 0 || status;
}
