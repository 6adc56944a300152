// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions: one for each node, contiguous in blocks of any size, with pages that
 * may be absent. An image beside the region holds the expected bytes.
 */
#include "../../drivers/infiniband/sw/verve/memory/fast.h"
#include "../../drivers/infiniband/sw/verve/memory/odp.h"
#include "../../drivers/infiniband/sw/verve/memory/window.h"
#include "model.h"

#define PAGE	1024
#define IOVA	0x7000000000ULL

struct verve_odp {
	struct region *region;
	int refs;
};

static struct region *to_region(const struct verve_mr *mr)
{
	return container_of(mr, struct region, mr);
}

/* Return: offset of a new piece, at an arbitrary alignment. */
u32 region_alloc(struct region *region, u32 len)
{
	u32 at = ALIGN(region->size, 8) + GUARD + (len == 8 ? 0 : dice(8));

	region->size = at + len + GUARD;
	return at;
}

u32 region_alloc_pages(struct region *region, u32 len)
{
	u32 at = ALIGN(region->size, PAGE);

	region->size = ALIGN(at + len, PAGE) + GUARD;
	return at;
}

/* Content of memory that was never written */
static u8 blank_byte(u32 i)
{
	return i * 73 + (i >> 8) * 31 + 5;
}

/* Remove the region, or its pages from some page on: page faults there fail. */
static void lose(struct region *region, u32 at, u32 len)
{
	u32 page = (at + dice(len)) / PAGE;

	for (; page <= (at + len - 1) / PAGE; page++) {
		region->absent[page] = true;
		region->gone[page] = true;
	}
}

/* Remove the memory that the plan lets disappear before it is needed. */
static void lose_planned(struct node *node)
{
	const struct request *own = node->plan, *theirs = peer_of(node)->plan;
	const struct receive *receive = node->receives;
	struct region *region = &node->region;
	u32 i;

	for (i = 0; i < node->num_requests; i++)
		if (own[i].gone_local)
			lose(region, own[i].local, own[i].length);
	for (i = 0; i < peer_of(node)->num_requests; i++)
		if (theirs[i].gone_remote)
			lose(region, theirs[i].remote, theirs[i].length);
	for (i = 0; i < node->num_receives; i++)
		if (receive[i].gone)
			lose(region, receive[i].local, receive[i].length);
}

void region_build(struct node *node)
{
	struct region *region = &node->region;
	u32 i, pages = region->size / PAGE + 1;

	region->bytes = aligned_alloc(8, ALIGN(region->size, 8));
	region->image = malloc(region->size);
	region->absent = calloc(pages, sizeof(bool));
	region->gone = calloc(pages, sizeof(bool));
	memset(region->absent, model.set.cold && !node->index, pages);
	for (i = 0; i < region->size; i++)
		region->bytes[i] = blank_byte(i);
	memset(region->bytes + ROM_BYTES + HOT_BYTES, 0, 8 * NUM_COUNTERS);
	memcpy(region->image, region->bytes, region->size);
	region->odp = calloc(1, sizeof(*region->odp));
	*region->odp = (struct verve_odp) { region, 1 };
	region->mr = (struct verve_mr) {
		.key = REGION_KEY(node->index),
		.iova = IOVA,
		.length = region->size,
	};
	lose_planned(node);
}

void region_free(struct region *region)
{
	verve_odp_put(region->odp);
	free(region->bytes);
	free(region->image);
	free(region->absent);
	free(region->gone);
}

void region_fill(struct region *region, u32 at, const void *from, u32 len)
{
	memcpy(region->bytes + at, from, len);
	memcpy(region->image + at, from, len);
}

/* The user overwrites memory that it got back: any later access by the driver shows. */
void region_scribble(struct region *region, u32 at, u32 len)
{
	memset(region->bytes + at, 0xe5, len);
	memset(region->image + at, 0xe5, len);
}

void region_forgive(struct region *region, u32 at, u32 len)
{
	memcpy(region->image + at, region->bytes + at, len);
}

static struct verve_mr *get(struct node *node, u32 key)
{
	if (key != node->region.mr.key)
		return NULL;
	node->region.held++;
	return &node->region.mr;
}

struct verve_mr *verve_mr_get(struct verve_dev *dev, struct ib_pd *pd, u32 key,
			      int access)
{
	(void)dev;
	(void)access;
	return get(container_of(pd, struct node, pd), key);
}

static struct node *node_of_scope(const struct verve_mr_scope *scope)
{
	return container_of(scope->pd, struct node, pd);
}

struct verve_mr *verve_mr_get_remote(const struct verve_mr_scope *scope,
				     u32 rkey, int access)
{
	(void)access;
	return get(node_of_scope(scope), rkey);
}

void verve_mr_hold(struct verve_mr *mr)
{
	to_region(mr)->held++;
}

void verve_mr_put(struct verve_mr *mr)
{
	expect(to_region(mr)->held > 0, "a region is let go of twice");
	to_region(mr)->held--;
}

bool verve_mr_covers(const struct verve_mr *mr, u64 va, u64 len)
{
	if (!len)
		return true;
	return va >= mr->iova && len <= mr->length &&
	       va - mr->iova <= mr->length - len;
}

void *verve_mr_map(const struct verve_mr *mr, u64 va, u32 *len, int access)
{
	struct region *region = to_region(mr);
	u32 at = va - mr->iova;

	(void)access;
	expect(region->held > 0, "a region that nobody holds is used");
	expect(verve_mr_covers(mr, va, 1), "beyond the region");
	if (region->absent[at / PAGE])
		return ERR_PTR(-EAGAIN);
	*len = min(*len, model.set.block - at % model.set.block);
	*len = min(*len, PAGE - at % PAGE);
	return region->bytes + at;
}

/* Withdraw some pages now and then, as long as events are left. */
void memory_pages_go(void *unused)
{
	u32 i, n;

	for (i = 0; i < 2; i++) {
		struct region *region = &model.node[i].region;

		for (n = between(1, 8); n; n--)
			region->absent[dice(region->size / PAGE + 1)] = true;
	}
	if (model.disturbances && model.disturbances--)
		world_after(dice(2 * MS), memory_pages_go, unused);
}

struct verve_odp *verve_odp_get(const struct verve_mr *mr)
{
	struct verve_odp *odp = to_region(mr)->odp;

	odp->refs++;
	return odp;
}

void verve_odp_put(struct verve_odp *odp)
{
	if (!--odp->refs)
		free(odp);
}

void verve_odp_queue(struct verve_odp *odp, struct verve_job *job)
{
	(void)odp;
	queue_work(NULL, &job->work);
}

void verve_job_work(struct work_struct *work)
{
	struct verve_job *job = container_of(work, struct verve_job, work);

	job->run(job);
}

ssize_t verve_odp_fault(struct verve_odp *odp, unsigned long addr, size_t len,
			int access, bool present_only)
{
	const struct region *region = odp->region;
	u32 first = addr / PAGE, last = (addr + len - 1) / PAGE, page;

	(void)access;
	(void)present_only;
	if (region->gone[first])
		return -EFAULT;
	/* The page is withdrawn again at once, so nothing may rely on it. */
	if (one_in(8))
		return -EAGAIN;
	for (page = first; page <= last && !region->gone[page]; page++)
		region->absent[page] = false;
	return min(page * PAGE - addr, len);
}

int verve_mr_invalidate(struct verve_mr_scope *scope, u32 key, bool is_remote)
{
	struct node *node = node_of_scope(scope);

	/* Another user holds the region: the packet counts as lost. */
	if (!model.set.keys_idle && one_in(4)) {
		network_harm();
		return -EAGAIN;
	}
	if (key == node->region.mr.key)
		node->region.mr.key = 0;
	return check_key(node, key, is_remote);
}

int verve_window_bind(struct verve_mr_scope *scope,
		      const struct verve_binding *bind)
{
	if (one_in(4))
		return -EAGAIN;
	return check_key(node_of_scope(scope), bind->key, false);
}

int verve_fast_register(const struct verve_mr_scope *scope,
			const struct ib_mr *ibmr, u32 key, int access)
{
	(void)ibmr;
	(void)access;
	broken("%p registers %#x, which no user asked for", scope->pd, key);
}
