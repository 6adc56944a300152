// SPDX-License-Identifier: GPL-2.0-only
/* Back end of a vhost-user network device (see vhost.h) */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include <linux/virtio_config.h>
#include "vhost.h"

/* Requests, as the specification of vhost-user numbers them */
enum {
	GET_FEATURES = 1,
	SET_FEATURES,
	SET_OWNER,
	RESET_OWNER,
	SET_MEM_TABLE,
	SET_VRING_NUM = 8,
	SET_VRING_ADDR,
	SET_VRING_BASE,
	GET_VRING_BASE,
	SET_VRING_KICK,
	SET_VRING_CALL,
	SET_VRING_ERR,
	GET_PROTOCOL_FEATURES,
	SET_PROTOCOL_FEATURES,
	GET_QUEUE_NUM,
	SET_VRING_ENABLE,
	GET_CONFIG = 24,
	SET_CONFIG,
};

enum {
	VERSION = 1,
	FLAG_REPLY = 4,
	FLAG_NEED_REPLY = 8,
	F_PROTOCOL_FEATURES = 30,
	PROTOCOL_F_REPLY_ACK = 3,
	PROTOCOL_F_CONFIG = 9,
	VRING_NO_FD = 256,
	MAX_CONFIG = 256,
};

struct state {
	uint32_t index;
	uint32_t num;
};

struct address {
	uint32_t index;
	uint32_t flags;
	uint64_t desc, used, avail, log;
};

struct config {
	uint32_t offset;
	uint32_t size;
	uint32_t flags;
	uint8_t data[MAX_CONFIG];
};

struct table {
	uint32_t num;
	uint32_t padding;
	struct {
		uint64_t guest, size, user, offset;
	} regions[VHOST_MAX_REGIONS];
};

/* From @request on as on the socket, where it is not aligned */
struct message {
	uint32_t align;
	uint32_t request;
	uint32_t flags;
	uint32_t size;
	union {
		uint64_t value;
		struct state state;
		struct address address;
		struct config config;
		struct table table;
	} u;
};

#define HEADER_BYTES	(offsetof(struct message, u) - offsetof(struct message, request))

/* ------------------------------------------------------------------ memory */

static void unmap(struct vhost *vhost)
{
	uint32_t i;

	for (i = 0; i < vhost->num_regions; i++)
		munmap(vhost->regions[i].map, vhost->regions[i].map_size);
	vhost->num_regions = 0;
}

/* Rings are in the memory, and must be set up anew. */
static void forget_queues(struct vhost *vhost)
{
	int i;

	for (i = 0; i < VHOST_QUEUES; i++)
		vhost->queues[i].desc = NULL;
}

/* Access behind the end of a file would be a SIGBUS. */
static bool is_long_enough(int fd, size_t size)
{
	struct stat stat;

	return !fstat(fd, &stat) && size <= (uint64_t)stat.st_size;
}

static bool map(struct vhost *vhost, const struct table *table, const int *fds, int num_fds)
{
	struct vhost_region *region;
	uint32_t i;

	unmap(vhost);
	forget_queues(vhost);
	if (table->num > VHOST_MAX_REGIONS || (int)table->num != num_fds)
		return false;
	for (i = 0; i < table->num; i++) {
		region = &vhost->regions[i];
		region->guest = table->regions[i].guest;
		region->user = table->regions[i].user;
		region->size = table->regions[i].size;
		region->map_size = region->size + table->regions[i].offset;
		if (region->map_size < region->size || !is_long_enough(fds[i], region->map_size))
			return false;
		region->map = mmap(NULL, region->map_size, PROT_READ | PROT_WRITE, MAP_SHARED,
				   fds[i], 0);
		if (region->map == MAP_FAILED)
			return false;
		region->mapped = (uint8_t *)region->map + table->regions[i].offset;
		vhost->num_regions++;
	}
	return true;
}

/* Return: @length bytes at an offset in a region, or NULL. */
static void *within(const struct vhost_region *region, uint64_t offset, uint64_t length)
{
	if (offset >= region->size || length > region->size - offset)
		return NULL;
	return region->mapped + offset;
}

static void *at_guest(const struct vhost *vhost, uint64_t addr, uint64_t length)
{
	void *found = NULL;
	uint32_t i;

	for (i = 0; i < vhost->num_regions && !found; i++)
		found = within(&vhost->regions[i], addr - vhost->regions[i].guest, length);
	return found;
}

static void *at_user(const struct vhost *vhost, uint64_t addr, uint64_t length)
{
	void *found = NULL;
	uint32_t i;

	for (i = 0; i < vhost->num_regions && !found; i++)
		found = within(&vhost->regions[i], addr - vhost->regions[i].user, length);
	return found;
}

/* ------------------------------------------------------------------ rings */

static void set_fd(int *fd, int new)
{
	if (*fd >= 0)
		close(*fd);
	*fd = new;
}

static struct vhost_queue *queue_of(struct vhost *vhost, uint32_t index)
{
	return index < VHOST_QUEUES ? &vhost->queues[index] : NULL;
}

static bool set_address(struct vhost *vhost, const struct address *address)
{
	struct vhost_queue *queue = queue_of(vhost, address->index);
	void *desc, *avail, *used;

	if (!queue || !queue->num)
		return false;
	desc = at_user(vhost, address->desc, queue->num * sizeof(*queue->desc));
	avail = at_user(vhost, address->avail,
			sizeof(*queue->avail) + queue->num * sizeof(queue->avail->ring[0]));
	used = at_user(vhost, address->used,
		       sizeof(*queue->used) + queue->num * sizeof(queue->used->ring[0]));
	if (!desc || !avail || !used || (uintptr_t)desc % 16 || (uintptr_t)avail % 2 ||
	    (uintptr_t)used % 4)
		return false;
	queue->desc = desc;
	queue->avail = avail;
	queue->used = used;
	return true;
}

/* The length of a split ring is a power of 2. */
static bool set_num(struct vhost *vhost, const struct state *state)
{
	struct vhost_queue *queue = queue_of(vhost, state->index);

	if (!queue || !state->num || state->num > 32768 || state->num & (state->num - 1))
		return false;
	queue->desc = NULL;
	queue->num = state->num;
	return true;
}

static bool is_running(const struct vhost_queue *queue)
{
	return queue->desc && queue->enabled;
}

bool vhost_is_up(const struct vhost *vhost)
{
	return is_running(&vhost->queues[VHOST_RX]);
}

/* Return: false if the guest has made nothing available; otherwise set the first
 * descriptor.
 */
static bool next_head(struct vhost_queue *queue, uint16_t *head)
{
	if (!is_running(queue) ||
	    __atomic_load_n(&queue->avail->idx, __ATOMIC_ACQUIRE) == queue->next)
		return false;
	*head = queue->avail->ring[queue->next & (queue->num - 1)] & (queue->num - 1);
	return true;
}

static void set_used(struct vhost_queue *queue, uint16_t head, uint32_t length)
{
	uint16_t idx = queue->used->idx;
	struct vring_used_elem *elem = &queue->used->ring[idx & (queue->num - 1)];

	elem->id = head;
	elem->len = length;
	queue->next++;
	__atomic_store_n(&queue->used->idx, idx + 1, __ATOMIC_RELEASE);
}

void vhost_notify(struct vhost *vhost, int index)
{
	struct vhost_queue *queue = &vhost->queues[index];
	const uint64_t one = 1;

	/* The guest reads used->idx after it has changed the flags. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!is_running(queue) || queue->call < 0 ||
	    queue->avail->flags & VRING_AVAIL_F_NO_INTERRUPT)
		return;
	/* A full pipe has notifications enough. */
	if (write(queue->call, &one, sizeof(one)) < 0 && errno != EAGAIN)
		set_fd(&queue->call, -1);
}

/* The guest may change a descriptor at any time: each field is read once. */
static struct vring_desc read_desc(const struct vhost_queue *queue, uint16_t index)
{
	const volatile struct vring_desc *desc = &queue->desc[index & (queue->num - 1)];

	return (struct vring_desc){
		.addr = desc->addr, .len = desc->len, .flags = desc->flags, .next = desc->next,
	};
}

/*
 * Copy between the buffers of a chain, which the device reads or writes, and a frame: its
 * header, then its data. Return: bytes, or 0 for a chain that cannot be used.
 */
static size_t copy_chain(const struct vhost *vhost, const struct vhost_queue *queue,
			 uint16_t head, void *frame, size_t size, bool to_guest)
{
	struct vring_desc desc = { .flags = VRING_DESC_F_NEXT, .next = head };
	uint8_t *data = frame;
	size_t done = 0, length;
	uint32_t left;
	void *buffer;

	for (left = queue->num; left && desc.flags & VRING_DESC_F_NEXT; left--) {
		desc = read_desc(queue, desc.next);
		if (!(desc.flags & VRING_DESC_F_WRITE) == to_guest ||
		    desc.flags & VRING_DESC_F_INDIRECT)
			return 0;
		length = desc.len;
		if (to_guest && length > size - done)
			length = size - done;
		buffer = at_guest(vhost, desc.addr, length);
		if (length > size - done || (length && !buffer))
			return 0;
		if (to_guest)
			memcpy(buffer, data + done, length);
		else
			memcpy(data + done, buffer, length);
		done += length;
	}
	return done;
}

bool vhost_take(struct vhost *vhost, struct frame *frame)
{
	struct vhost_queue *queue = &vhost->queues[VHOST_TX];
	uint16_t head;
	size_t got;

	if (!next_head(queue, &head))
		return false;
	got = copy_chain(vhost, queue, head, (uint8_t *)frame + offsetof(struct frame, hdr),
			 sizeof(frame->hdr) + FRAME_MAX, false);
	set_used(queue, head, 0);
	frame->length = got > sizeof(frame->hdr) ? got - sizeof(frame->hdr) : 0;
	return true;
}

bool vhost_put(struct vhost *vhost, struct frame *frame)
{
	struct vhost_queue *queue = &vhost->queues[VHOST_RX];
	size_t size = sizeof(frame->hdr) + frame->length, put;
	uint16_t head;

	if (!next_head(queue, &head))
		return false;
	put = copy_chain(vhost, queue, head, (uint8_t *)frame + offsetof(struct frame, hdr),
			 size, true);
	set_used(queue, head, put == size ? size : 0);
	return true;
}

/* ------------------------------------------------------------------ protocol */

void vhost_disconnect(struct vhost *vhost)
{
	int i;

	set_fd(&vhost->fd, -1);
	for (i = 0; i < VHOST_QUEUES; i++) {
		set_fd(&vhost->queues[i].kick, -1);
		set_fd(&vhost->queues[i].call, -1);
		vhost->queues[i].enabled = false;
	}
	forget_queues(vhost);
	unmap(vhost);
}

bool vhost_listen(struct vhost *vhost, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int i;

	vhost->fd = -1;
	for (i = 0; i < VHOST_QUEUES; i++)
		vhost->queues[i].kick = vhost->queues[i].call = -1;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	vhost->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unlink(path);
	if (vhost->listener >= 0 &&
	    !bind(vhost->listener, (struct sockaddr *)&address, sizeof(address)) &&
	    !listen(vhost->listener, 1))
		return true;
	perror(path);
	return false;
}

void vhost_accept(struct vhost *vhost)
{
	/* A guest may send half a message, or read no answer. */
	const struct timeval limit = { .tv_sec = 1 };
	int fd = accept4(vhost->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	vhost_disconnect(vhost);
	vhost->fd = fd;
}

static void get_config(const struct vhost *vhost, struct config *config)
{
	struct virtio_net_config net = { .max_virtqueue_pairs = htole16(1) };
	uint8_t all[MAX_CONFIG] = {};

	memcpy(net.mac, vhost->mac, sizeof(net.mac));
	memcpy(all, &net, sizeof(net));
	if (config->offset > MAX_CONFIG || config->size > MAX_CONFIG - config->offset)
		config->size = 0;
	memcpy(config->data, all + config->offset, config->size);
}

static bool set_queue_fd(struct vhost *vhost, const struct message *message, int *fds,
			 int num_fds)
{
	struct vhost_queue *queue = queue_of(vhost, message->u.value & 0xff);
	int fd = -1;

	if (!queue)
		return false;
	if (num_fds && !(message->u.value & VRING_NO_FD)) {
		fd = fds[0];
		fds[0] = -1;
		fcntl(fd, F_SETFL, O_NONBLOCK);
	}
	set_fd(message->request == SET_VRING_KICK ? &queue->kick : &queue->call, fd);
	return true;
}

static bool set_state(struct vhost *vhost, const struct message *message)
{
	struct vhost_queue *queue = queue_of(vhost, message->u.state.index);

	if (!queue)
		return false;
	if (message->request == SET_VRING_BASE)
		queue->next = message->u.state.num;
	else
		queue->enabled = message->u.state.num;
	return true;
}

/* Requests that have an answer of their own. Return: false if this is none. */
static bool answer(struct vhost *vhost, struct message *message)
{
	struct vhost_queue *queue;

	switch (message->request) {
	case GET_FEATURES:
		message->u.value = vhost->offered | 1ULL << F_PROTOCOL_FEATURES;
		break;
	case GET_PROTOCOL_FEATURES:
		message->u.value = 1 << PROTOCOL_F_REPLY_ACK | 1 << PROTOCOL_F_CONFIG;
		break;
	case GET_QUEUE_NUM:
		message->u.value = 1;
		break;
	case GET_VRING_BASE:
		queue = queue_of(vhost, message->u.state.index);
		message->u.state.num = queue ? queue->next : 0;
		if (queue)
			queue->desc = NULL;
		break;
	case GET_CONFIG:
		get_config(vhost, &message->u.config);
		return true;
	default:
		return false;
	}
	message->size = sizeof(uint64_t);
	return true;
}

/* Requests that may be acknowledged. Return: false for a wrong one. */
static bool execute(struct vhost *vhost, const struct message *message, int *fds, int num_fds)
{
	switch (message->request) {
	case SET_FEATURES:
		vhost->features = message->u.value & vhost->offered;
		return true;
	case SET_MEM_TABLE:
		return map(vhost, &message->u.table, fds, num_fds);
	case SET_VRING_NUM:
		return set_num(vhost, &message->u.state);
	case SET_VRING_ADDR:
		return set_address(vhost, &message->u.address);
	case SET_VRING_BASE:
	case SET_VRING_ENABLE:
		return set_state(vhost, message);
	case SET_VRING_KICK:
	case SET_VRING_CALL:
		return set_queue_fd(vhost, message, fds, num_fds);
	case SET_OWNER:
	case RESET_OWNER:
	case SET_VRING_ERR:
	case SET_PROTOCOL_FEATURES:
	case SET_CONFIG:
		return true;
	default:
		return false;
	}
}

/* Return: number of file descriptors, or -1. */
static int receive(int fd, struct message *message, int *fds)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(VHOST_MAX_REGIONS * sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = &message->request, .iov_len = HEADER_BYTES };
	struct msghdr header = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg;
	ssize_t got;
	int num = 0;

	memset(message, 0, sizeof(*message));
	got = recvmsg(fd, &header, MSG_CMSG_CLOEXEC | MSG_WAITALL);
	cmsg = got < 0 ? NULL : CMSG_FIRSTHDR(&header);
	if (cmsg && cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS) {
		num = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(cmsg), num * sizeof(int));
	}
	if (got != (ssize_t)HEADER_BYTES || message->size > sizeof(message->u) ||
	    (message->size && recv(fd, &message->u, message->size, MSG_WAITALL) !=
			      (ssize_t)message->size)) {
		while (num)
			close(fds[--num]);
		return -1;
	}
	return num;
}

static bool reply(const struct vhost *vhost, struct message *message)
{
	size_t size = HEADER_BYTES + message->size;

	message->flags = VERSION | FLAG_REPLY;
	return send(vhost->fd, &message->request, size, MSG_NOSIGNAL) == (ssize_t)size;
}

void vhost_message(struct vhost *vhost)
{
	int fds[VHOST_MAX_REGIONS], num = 0, i;
	struct message message;
	bool fine = false;

	num = receive(vhost->fd, &message, fds);
	if (num >= 0) {
		if (answer(vhost, &message)) {
			fine = reply(vhost, &message);
		} else {
			fine = execute(vhost, &message, fds, num);
			message.size = sizeof(uint64_t);
			message.u.value = !fine;
			if (message.flags & FLAG_NEED_REPLY)
				fine = reply(vhost, &message) && fine;
		}
		for (i = 0; i < num; i++) {
			if (fds[i] >= 0)
				close(fds[i]);
		}
	}
	if (!fine)
		vhost_disconnect(vhost);
}
