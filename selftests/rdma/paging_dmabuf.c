// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions over dma-bufs of udmabuf and of the system's DMA heap: data in both
 * directions, refused registrations, the kernel's list of users, and a dma-buf that its
 * owner has closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/ends.h"
#include "../lib/region.h"
#include "../lib/tap.h"
#include "../lib/uverbs.h"
#include "../lib/wc.h"
#include "../lib/work.h"

#define PAGE		4096u
#define SIZE		(64 * PAGE)
#define OFFSET		(3 * PAGE)
#define LENGTH		(SIZE - OFFSET - PAGE)
/* Address of the region's first byte */
#define IOVA		0x123456000ull
#define RECV_ID		99

static struct ends e;

/* Return: a dma-buf of SIZE bytes, or -1 without udmabuf. */
static int udmabuf(void)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC,
					 .size = SIZE };
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd = -1;

	create.memfd = memfd_create("udmabuf", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	if (dev >= 0 && !ftruncate(create.memfd, SIZE) &&
	    !fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		fd = ioctl(dev, UDMABUF_CREATE, &create);
	close(create.memfd);
	close(dev);
	return fd;
}

static int heap(void)
{
	struct dma_heap_allocation_data alloc = {
		.len = SIZE, .fd_flags = O_RDWR | O_CLOEXEC,
	};
	int dev = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC), err = -1;

	if (dev >= 0)
		err = ioctl(dev, DMA_HEAP_IOCTL_ALLOC, &alloc);
	close(dev);
	return err ? -1 : (int)alloc.fd;
}

static uint8_t *map(int fd)
{
	uint8_t *mem = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    0);

	if (mem == MAP_FAILED)
		tap_bail("mmap of a dma-buf: %s", strerror(errno));
	return mem;
}

static bool moves(enum ibv_wr_opcode opcode, const struct region *from,
		  const struct region *to, uint32_t size)
{
	if (opcode == IBV_WR_SEND)
		region_receive(to, RECV_ID, size);
	return !region_post(&e, opcode, from, to, size) &&
	       expect_wc(e.a.scq, opcode, IBV_WC_SUCCESS) &&
	       (opcode != IBV_WR_SEND ||
		expect_wc(e.b.rcq, RECV_ID, IBV_WC_SUCCESS));
}

/* Transfer data into and out of the buffer. @mem is its mapping in the process. */
static bool data(const struct region *buf, uint8_t *mem)
{
	struct region own = { &e.a, msg(&e.a), LENGTH, e.a.mr };
	bool ok;

	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	memset(mem, POISON, SIZE);
	fill(own.mem, LENGTH);
	ok = moves(IBV_WR_RDMA_WRITE, &own, buf, LENGTH) &&
	     !memcmp(mem + OFFSET, own.mem, LENGTH) &&
	     mem[OFFSET - 1] == POISON && mem[OFFSET + LENGTH] == POISON;
	fill(own.mem, LENGTH);
	ok = ok && moves(IBV_WR_SEND, &own, buf, LENGTH) &&
	     !memcmp(mem + OFFSET, own.mem, LENGTH);
	fill(mem, SIZE);
	ok = ok && moves(IBV_WR_RDMA_READ, buf, &own, LENGTH) &&
	     !memcmp(mem + OFFSET, own.mem, LENGTH);
	memset(mem + OFFSET, 0, 8);
	ok = ok && moves(IBV_WR_ATOMIC_FETCH_AND_ADD, buf, &own, 8) &&
	     mem[OFFSET] == 1;
	ends_disconnect(&e);
	return ok;
}

/* The region keeps a dma-buf that the owner has closed and unmapped. */
static bool let_go(const struct region *buf, uint8_t *mem, int fd)
{
	struct region own = { &e.a, msg(&e.a), LENGTH, e.a.mr };
	uint8_t *want = malloc(LENGTH);
	bool ok;

	fill(mem, SIZE);
	memcpy(want, mem + OFFSET, LENGTH);
	munmap(mem, SIZE);
	close(fd);
	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	memset(own.mem, 0, LENGTH);
	ok = moves(IBV_WR_RDMA_READ, buf, &own, LENGTH) &&
	     !memcmp(own.mem, want, LENGTH);
	ends_disconnect(&e);
	free(want);
	return ok;
}

static bool beyond(const struct region *buf)
{
	struct region own = { &e.a, msg(&e.a), LENGTH, e.a.mr };
	struct region at = *buf;
	bool ok;

	at.mem++;
	ends_connect(&e, &(struct qp_conf){ .type = IBV_QPT_RC });
	ok = !region_post(&e, IBV_WR_RDMA_WRITE, &own, &at, LENGTH) &&
	     expect_wc(e.a.scq, IBV_WR_RDMA_WRITE, IBV_WC_REM_ACCESS_ERR);
	ends_disconnect(&e);
	return ok;
}

static int try(int fd, uint64_t offset, uint64_t length, uint64_t iova,
	       int access)
{
	struct dmabuf_mr mr;
	int err = uverbs_reg_dmabuf_mr(e.b.pd, offset, length, iova, fd, access,
				       &mr);

	if (!err)
		uverbs_dereg_dmabuf_mr(&mr);
	return err;
}

static bool refused(int fd)
{
	int no_buf = open("/dev/null", O_RDWR | O_CLOEXEC);

	CHECK(try(-1, 0, SIZE, IOVA, ALL_ACCESS) == EBADF, "no descriptor");
	CHECK(try(no_buf, 0, SIZE, IOVA, ALL_ACCESS) == EINVAL, "no dma-buf");
	close(no_buf);
	CHECK(try(fd, 0, SIZE + 1, IOVA, ALL_ACCESS) == EINVAL, "too long");
	CHECK(try(fd, SIZE, PAGE, IOVA, ALL_ACCESS) == EINVAL, "behind it");
	CHECK(try(fd, -(uint64_t)PAGE, PAGE, IOVA, ALL_ACCESS) == EINVAL,
	      "in front of it");
	CHECK(try(fd, 0, 0, IOVA, ALL_ACCESS) == EINVAL, "nothing");
	CHECK(try(fd, 1, PAGE, IOVA, ALL_ACCESS) == EINVAL, "offset and iova");
	CHECK(try(fd, 0, SIZE, -(uint64_t)PAGE, ALL_ACCESS) == EINVAL,
	      "iova wraps");
	CHECK(try(fd, 0, SIZE, IOVA, IBV_ACCESS_REMOTE_WRITE) == EINVAL,
	      "impossible access");
	CHECK(try(fd, 0, SIZE, IOVA, ALL_ACCESS | IBV_ACCESS_ON_DEMAND) ==
	      EINVAL, "flags that dma-bufs do not have");
	CHECK(!try(fd, 0, SIZE, IOVA, IBV_ACCESS_LOCAL_WRITE), "the whole of it");
	return true;
}

/* Is the device among the users of dma-bufs that the kernel lists? */
static bool is_listed(FILE *list)
{
	char line[256];

	while (fgets(line, sizeof(line), list))
		if (strstr(line, e.b.name))
			return true;
	return false;
}

/* In a network namespace of iproute2's, another sysfs hides debugfs. */
static void listed(const char *kind)
{
	FILE *list = fopen("/proc/1/root/sys/kernel/debug/dma_buf/bufinfo", "r");

	if (!list) {
		tap_skip("no debugfs", "%s: listed", kind);
		return;
	}
	tap_result(is_listed(list), "%s: listed", kind);
	fclose(list);
}

static void all(const char *kind, int fd)
{
	struct dmabuf_mr mr;
	struct ibv_mr keys;
	struct region buf = { &e.b, (void *)IOVA, LENGTH, &keys };
	uint8_t *mem;
	int err;

	if (fd < 0) {
		tap_skip("there are none", "%s", kind);
		return;
	}
	mem = map(fd);
	tap_result(refused(fd), "%s: what is refused", kind);
	err = uverbs_reg_dmabuf_mr(e.b.pd, OFFSET, LENGTH, IOVA, fd, ALL_ACCESS,
				   &mr);
	if (err)
		tap_bail("a region over a %s: %s", kind, strerror(err));
	keys = (struct ibv_mr){ .lkey = mr.lkey, .rkey = mr.rkey };
	listed(kind);
	tap_result(data(&buf, mem), "%s: in and out", kind);
	tap_result(beyond(&buf), "%s: beyond the region", kind);
	tap_result(let_go(&buf, mem, fd), "%s: let go by its owner", kind);
	tap_result(!uverbs_dereg_dmabuf_mr(&mr), "%s: deregister", kind);
}

int main(int argc, char **argv)
{
	int u = udmabuf(), h = heap();

	ends_open(&e, argc, argv);
	tap_plan((u < 0 ? 1 : 6) + (h < 0 ? 1 : 6));
	all("udmabuf", u);
	all("DMA heap", h);
	ends_close(&e);
	return tap_done();
}
