# SPDX-License-Identifier: GPL-2.0-only
#
# Verve: software RDMA over Ethernet. `make help` lists the targets.

# On a machine without the headers of its kernel this stays empty; only targets that
# build for that kernel need it.
KDIR ?= $(wildcard /lib/modules/$(shell uname -r)/build)
KERNEL ?=
VARIANT ?= plain

MODULE_DIR := drivers/infiniband/sw/verve
REGISTRY_DIR := drivers/infiniband/sw/roce_offload
BUILD_ARGS := $(if $(W),W=$(W)) $(if $(C),C=$(C)) $(if $(CF),CF=$(CF)) \
	$(if $(ARCH),ARCH=$(ARCH))

.PHONY: modules
modules: need-kdir
	@ko=$$(tools/build $(KDIR) $(BUILD_ARGS)) && \
		cp "$$ko" "$${ko%/*}"/Module.symvers $(MODULE_DIR)/ && \
		cp "$${ko%/*/*}"/roce_offload/roce_offload.ko \
			"$${ko%/*/*}"/roce_offload/Module.symvers $(REGISTRY_DIR)/ && \
		echo "$(MODULE_DIR)/verve.ko"

.PHONY: modules_install
modules_install: modules
	@tools/install $(MODULE_DIR)/verve.ko $(REGISTRY_DIR)/roce_offload.ko

.PHONY: need-kdir
need-kdir:
	@[ -n "$(KDIR)" ] || { echo >&2 "No headers of the running kernel:" \
		"install linux-headers-$$(uname -r), or give KDIR=DIR."; exit 2; }

.PHONY: run
run:
	@tools/vm/run $(KERNEL)

.PHONY: check
check:
	@tools/check $(KERNEL)

.PHONY: check-all
check-all:
	@tools/check-all

.PHONY: lint
lint:
	@tools/lint $(LINTS)

.PHONY: check-uml
check-uml:
	@tools/check-uml plain

.PHONY: check-debug
check-debug:
	@tools/check-uml debug lockdep

.PHONY: check-kernels
check-kernels:
	@tools/check-kernels $(KERNEL)

.PHONY: check-kcsan
check-kcsan:
	@tools/check-uml kcsan

.PHONY: uml-run
uml-run:
	@[ -n "$(JOB)" ] || { echo >&2 "usage: make uml-run JOB=SCRIPT [ARGS=...]"; exit 2; }
	@tools/vm/uml-run $(VARIANT) $(JOB) $(ARGS)

.PHONY: cluster
cluster:
	@KERNEL="$(KERNEL)" tools/cluster/run

.PHONY: soak
soak:
	@tools/soak $(HOURS)

.PHONY: check-pyverbs
check-pyverbs:
	@tools/check-pyverbs $(KERNEL)

.PHONY: check-interop
check-interop:
	@tools/check-interop $(KERNEL)

.PHONY: check-virtio
check-virtio:
	@tools/check-virtio $(VARIANT)

.PHONY: fuzz
fuzz:
	@tools/setup/packages build fuzz
	@$(MAKE) --no-print-directory -C selftests/fuzz fuzz $(if $(TIME),TIME=$(TIME))

.PHONY: coverage
coverage:
	@tools/setup/packages build coverage
	@tools/coverage $(SEEDS)

.PHONY: analyse
analyse:
	@tools/setup/packages build analyse
	@tools/analyse

.PHONY: bench
bench:
	@tools/bench/run $(ROUNDS)

.PHONY: bench-insns
bench-insns:
	@tools/bench/insns $(KERNEL)

.PHONY: bench-containers
bench-containers:
	@tools/bench/containers $(or $(COUNT),200) $(PEERS)

.PHONY: deb
deb:
	@tools/deb

.PHONY: rpm
rpm:
	@tools/rpm

.PHONY: check-packages
check-packages:
	@tools/check-packages $(KERNEL)

.PHONY: clean
clean:
	@tools/clean

.PHONY: help
help:
	@echo 'The module:'
	@echo '  make                  verve.ko and roce_offload.ko for the running kernel, in'
	@echo '                        $(MODULE_DIR) and $(REGISTRY_DIR)'
	@echo '  make KDIR=DIR         for the kernel whose build directory is DIR'
	@echo '                        (ARCH=um for UML; W=1, C=2 as for the kernel)'
	@echo '  make modules_install  into /lib/modules (INSTALL_MOD_PATH= before it)'
	@echo '  make clean            removes the builds'
	@echo
	@echo 'In virtual machines, which need no RDMA hardware and no reboot. As root, they'
	@echo 'install the Debian packages that they lack:'
	@echo '  make run              boots a VM with verve.ko and runs perftest over it'
	@echo '       KERNEL=          6.1, 6.12 or 7.2 (default: this kernel'\''s, or 6.1);'
	@echo '                        6.1-rt and so on: with PREEMPT_RT'
	@echo '  make uml-run JOB=SCRIPT [ARGS=]'
	@echo '                        runs SCRIPT in a UML guest (7.2) that has verve.ko; boots'
	@echo '                        in a second, but its kernel is first built, once'
	@echo '       VARIANT=         plain, debug (KASAN, kmemleak) or lockdep'
	@echo
	@echo '  make cluster          boots guests on a virtual switch, each with Verve on its NIC,'
	@echo '                        and runs real programs on all of them: cluster.rst'
	@echo '       NODES=4          how many guests'
	@echo '       JOB=             of incast, training, mpi, storage (default: all)'
	@echo '       KERNEL=          6.1, 6.12 or 7.2, in QEMU (default: UML)'
	@echo '       RATE= DELAY= LOSS= ECN= MTU='
	@echo '                        of the wires, such as 1gbit 100us 0.1% 0 9000'
	@echo
	@echo 'Tests; they end with `N passed, N failed, N skipped`:'
	@echo '  make check            the tests of CI: unit tests, the transport in simulated'
	@echo '                        time, fuzz corpora, builds with W=1 and sparse,'
	@echo '                        kselftests on UML and on stock kernels (KERNEL= for some),'
	@echo '                        smoke tests on 6.12 and on 7.3 for the cloud'
	@echo '       TEST=rdma/paging only this kselftest, on each kernel (also for check-uml,'
	@echo '                        check-debug); tools/test-find lists all'
	@echo '       SELFTESTS=       arguments for them, such as SUBDIRS=rdma'
	@echo '       LOGS=DIR         the directory of the logs'
	@echo '  make check-all        for the night: every kselftest on every kernel, and the'
	@echo '                        targets check-*; hours'
	@echo '  make lint             style, sizes, kernel-doc, spelling, references, commits:'
	@echo '                        the rules of contributing.rst; a part of make check'
	@echo '       LINTS=           only these, such as "columns references"'
	@echo '  make check-uml        kselftests and KUnit suites in UML'
	@echo '  make check-debug      kselftests in UML with KASAN, kmemleak, lockdep'
	@echo '  make check-kernels    builds for all of Debian'\''s kernels, of any flavour and on'
	@echo '                        arm64, and smoke tests on each; two hours (KERNEL=)'
	@echo '  make check-kcsan      rdma/ and fault/ in UML with KCSAN, the detector of data races'
	@echo '  make check-packages   has dkms build the packaged modules; tries the service'\''s'
	@echo '                        program and the action for CI services (KERNEL=);'
	@echo '                        installs the packages on Debian 12 and 13; hours'
	@echo '       IMAGES=          bookworm:amd64 and so on: only there; empty: nowhere'
	@echo '  make soak HOURS=1     everything at once in a bad network, in UML with KASAN and'
	@echo '                        kmemleak; ends with a summary'
	@echo '  make check-pyverbs    the python tests of three rdma-cores, over Verve and over'
	@echo '                        rdma_rxe, in UML and on three stock kernels (KERNEL=)'
	@echo '  make check-interop    every opcode between Verve and rdma_rxe, in two VMs on a wire,'
	@echo '                        with loss and without, on three stock kernels (KERNEL=)'
	@echo '  make check-virtio     ICRCs by virtio devices outside of the guest, in UML'
	@echo '       VARIANT=         debug or lockdep: a UML kernel with checks'
	@echo
	@echo '  make fuzz             looks for inputs that break the parser, the validation of'
	@echo '                        requests or the engines, guided by coverage (clang)'
	@echo '       TIME=            seconds for each of the three (default: 60)'
	@echo '  make coverage         branches that tests in user space take'
	@echo '  make analyse          coccinelle, clang'\''s analyzer and gcc'\''s; fails on a'
	@echo '                        finding that testing.rst does not answer'
	@echo
	@echo '  make deb              Debian packages: verve-dkms, verve-tools'
	@echo '  make rpm              RPM packages: akmod-verve, verve, and their sources'
	@echo
	@echo 'Measurements, on an idle machine:'
	@echo '  make bench            Verve beside rdma_rxe, siw and TCP, in one UML guest'
	@echo '       ROUNDS=          the number of rounds, for medians (default: 5)'
	@echo '  make bench-insns      instructions per message, Verve and rdma_rxe, in QEMU'
	@echo '       KERNEL=          6.1, 6.12 or 7.2 only'
	@echo '  make bench-containers COUNT=200'
	@echo '                        as many network namespaces with a device each, in UML'
	@echo '       PEERS=           of verve, rxe, siw, none (default: verve)'
	@echo
	@echo 'Downloads and builds are kept in VERVE_CACHE (default: ~/.cache/verve).'
