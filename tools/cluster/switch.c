// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: switch SOCKETS PORTS STATE
 *
 * An Ethernet switch between guests. A wire is a pair of datagram sockets: the guest of
 * port N has SOCKETS/N, the switch SOCKETS/N.switch. A frame first takes its time on the
 * wire, then waits in the queue of the port that it leaves by, where it may be marked or
 * dropped. The switch is no guest, because each frame would then enter and leave a kernel
 * that is emulated.
 *
 * STATE/settings is read again when it changes:
 *	rate=BITS	of each port in a second (0: as fast as the guest takes frames)
 *	delay=US	of each wire
 *	loss=P		probability that a frame gets lost on a wire
 *	ecn=1		mark packets with a growing probability, as RED does; with a rate
 *			only, since a queue for a guest that has no CPU is no congestion
 *	down=N,...	ports without a wire
 * STATE/counters is written every 100 ms, and lists for each port: bytes in, bytes out,
 * bytes in the queue, frames dropped there, frames lost on the wire, packets marked.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PORTS_MAX	64
#define BATCH		64
#define FRAME_MAX	9216
#define SOCKET_BUFFER	(1 << 20)
#define SECOND		1000000000ULL
#define TICK		(SECOND / 10)
/* A wakeup that comes late costs no bandwidth. */
#define BURST		(SECOND / 2000)

/* Bytes; see tools/bench/incast */
#define QUEUE_MAX	1000000
#define MARK_MIN	40000
#define MARK_MAX	120000
#define MARK_LIKELY	0.1

struct frame {
	struct frame *next;
	struct port *from;
	uint64_t due;
	uint32_t length;
	uint8_t data[FRAME_MAX];
};

struct queue {
	struct frame *head, **tail;
	uint64_t bytes;
};

struct port {
	int fd;
	struct sockaddr_un guest;
	bool connected, blocked, down, learned;
	uint8_t mac[6];
	struct queue queue;
	uint64_t free_at;
	uint64_t in, out, dropped, lost, marked;
};

static struct {
	uint64_t rate, delay;
	double loss;
	bool ecn;
	struct timespec changed;
} settings;

static struct port ports[PORTS_MAX];
static int ports_count;
static struct queue wire;
static struct frame *spare;
static uint64_t now;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static struct frame *frame_alloc(void)
{
	struct frame *frame = spare;

	if (frame)
		spare = frame->next;
	else
		frame = malloc(sizeof(*frame));
	if (!frame)
		die("malloc");
	return frame;
}

static void frame_free(struct frame *frame)
{
	frame->next = spare;
	spare = frame;
}

static void queue_init(struct queue *queue)
{
	queue->tail = &queue->head;
}

static void queue_push(struct queue *queue, struct frame *frame)
{
	frame->next = NULL;
	*queue->tail = frame;
	queue->tail = &frame->next;
	queue->bytes += frame->length;
}

static struct frame *queue_pop(struct queue *queue)
{
	struct frame *frame = queue->head;

	queue->head = frame->next;
	if (!queue->head)
		queue->tail = &queue->head;
	queue->bytes -= frame->length;
	return frame;
}

static bool by_chance(double probability)
{
	return drand48() < probability;
}

/* One's complement sum: RFC 1624 */
static void ipv4_mark(uint8_t *ip)
{
	uint32_t before = ip[0] << 8 | ip[1], sum = ip[10] << 8 | ip[11];

	ip[1] |= 3;
	sum = (~sum & 0xffff) + (~before & 0xffff) + (ip[0] << 8 | ip[1]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	ip[10] = sum >> 8;
	ip[11] = sum;
}

/* Marks the packet as having met a queue; false if it cannot be marked */
static bool frame_mark(struct frame *frame)
{
	uint8_t *ip = frame->data + 14;
	uint16_t type = frame->data[12] << 8 | frame->data[13];

	if (frame->length < 14 + 20)
		return false;
	if (type == 0x0800 && ip[1] & 3) {
		ipv4_mark(ip);
		return true;
	}
	if (type == 0x86dd && ip[1] & 0x30) {
		ip[1] |= 0x30;
		return true;
	}
	return false;
}

static bool mark_is_due(uint64_t queued)
{
	if (!settings.ecn || !settings.rate || queued < MARK_MIN)
		return false;
	return queued >= MARK_MAX ||
		by_chance(MARK_LIKELY * (queued - MARK_MIN) / (MARK_MAX - MARK_MIN));
}

static void port_enqueue(struct port *port, struct frame *frame)
{
	if (port->down || port->queue.bytes + frame->length > QUEUE_MAX) {
		port->dropped++;
		frame_free(frame);
		return;
	}
	if (mark_is_due(port->queue.bytes) && frame_mark(frame))
		port->marked++;
	queue_push(&port->queue, frame);
}

static struct port *port_of(const uint8_t *mac)
{
	int i;

	for (i = 0; i < ports_count; i++) {
		if (ports[i].learned && !memcmp(ports[i].mac, mac, 6))
			return &ports[i];
	}
	return NULL;
}

static void flood(struct frame *frame)
{
	struct frame *copy;
	int i;

	for (i = 0; i < ports_count; i++) {
		if (&ports[i] == frame->from)
			continue;
		copy = frame_alloc();
		memcpy(copy, frame, offsetof(struct frame, data) + frame->length);
		port_enqueue(&ports[i], copy);
	}
	frame_free(frame);
}

static void forward(struct frame *frame)
{
	struct port *to = port_of(frame->data);

	if (!to)
		flood(frame);
	else
		port_enqueue(to, frame);
}

static void wire_deliver(void)
{
	while (wire.head && wire.head->due <= now)
		forward(queue_pop(&wire));
}

static void frame_arrived(struct port *port, struct frame *frame)
{
	port->in += frame->length;
	if (port->down || frame->length < 14 || by_chance(settings.loss)) {
		port->lost++;
		frame_free(frame);
		return;
	}
	memcpy(port->mac, frame->data + 6, 6);
	port->learned = true;
	frame->from = port;
	frame->due = now + settings.delay;
	queue_push(&wire, frame);
}

/* A batch, so that all ports have their turns */
static void port_receive(struct port *port)
{
	static struct frame *frames[BATCH];
	struct mmsghdr messages[BATCH] = { 0 };
	struct iovec parts[BATCH];
	int i, count;

	for (i = 0; i < BATCH; i++) {
		if (!frames[i])
			frames[i] = frame_alloc();
		parts[i] = (struct iovec){ frames[i]->data, FRAME_MAX };
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	count = recvmmsg(port->fd, messages, BATCH, MSG_DONTWAIT, NULL);
	for (i = 0; i < count; i++) {
		frames[i]->length = messages[i].msg_len;
		frame_arrived(port, frames[i]);
		frames[i] = NULL;
	}
}

static uint64_t serialization(const struct frame *frame)
{
	return settings.rate ? frame->length * 8 * SECOND / settings.rate : 0;
}

/* Both ends are connected, so that only the size of its buffer limits a socket. */
static bool port_connect(struct port *port)
{
	if (!port->connected)
		port->connected = !connect(port->fd, (struct sockaddr *)&port->guest,
					   sizeof(port->guest));
	return port->connected;
}

static void port_flush(struct port *port)
{
	while (port->queue.head) {
		port->dropped++;
		frame_free(queue_pop(&port->queue));
	}
}

/* Returns the number of frames that the guest has taken, -1 if there is no guest. */
static int port_offer(struct port *port, struct mmsghdr *messages, int count)
{
	int taken;

	if (!port_connect(port))
		return -1;
	taken = sendmmsg(port->fd, messages, count, MSG_DONTWAIT);
	if (taken >= 0)
		return taken;
	if (errno == EAGAIN || errno == ENOBUFS)
		return 0;
	port->connected = false;
	return -1;
}

/* Sends as many frames as the rate allows and the guest takes. */
static void port_serve(struct port *port)
{
	struct mmsghdr messages[BATCH] = { 0 };
	struct iovec parts[BATCH];
	struct frame *frame = port->queue.head;
	int count = 0, taken;
	uint64_t at;

	if (port->free_at + BURST < now)
		port->free_at = now - BURST;
	at = port->free_at;
	for (; frame && at <= now && count < BATCH; frame = frame->next, count++) {
		parts[count] = (struct iovec){ frame->data, frame->length };
		messages[count].msg_hdr.msg_iov = &parts[count];
		messages[count].msg_hdr.msg_iovlen = 1;
		at += serialization(frame);
	}
	if (!count)
		return;
	taken = port_offer(port, messages, count);
	if (taken < 0) {
		port_flush(port);
		return;
	}
	port->blocked = taken < count;
	while (taken--) {
		frame = queue_pop(&port->queue);
		port->out += frame->length;
		port->free_at += serialization(frame);
		frame_free(frame);
	}
}

static void ports_unplug(const char *list)
{
	char *end;
	long port;
	int i;

	for (i = 0; i < ports_count; i++)
		ports[i].down = false;
	for (;; list = end + (*end == ',')) {
		port = strtol(list, &end, 10);
		if (end == list)
			return;
		if (port >= 1 && port <= ports_count)
			ports[port - 1].down = true;
	}
}

static void setting_apply(const char *name, const char *value)
{
	if (!strcmp(name, "rate"))
		settings.rate = strtoull(value, NULL, 10);
	else if (!strcmp(name, "delay"))
		settings.delay = strtoull(value, NULL, 10) * 1000;
	else if (!strcmp(name, "loss"))
		settings.loss = strtod(value, NULL);
	else if (!strcmp(name, "ecn"))
		settings.ecn = atoi(value);
	else if (!strcmp(name, "down"))
		ports_unplug(value);
}

static void settings_read(const char *file)
{
	char name[16], value[256];
	struct stat status;
	FILE *stream;

	if (stat(file, &status) ||
	    !memcmp(&status.st_mtim, &settings.changed, sizeof(status.st_mtim)))
		return;
	stream = fopen(file, "r");
	if (!stream)
		return;
	settings.changed = status.st_mtim;
	ports_unplug("");
	while (fscanf(stream, " %15[a-z]=%255s", name, value) == 2)
		setting_apply(name, value);
	fclose(stream);
}

static void counters_write(const char *file)
{
	char fresh[300];
	FILE *stream;
	int i;

	snprintf(fresh, sizeof(fresh), "%s.new", file);
	stream = fopen(fresh, "w");
	if (!stream)
		die(fresh);
	fprintf(stream, "us %llu\n", (unsigned long long)now / 1000);
	for (i = 0; i < ports_count; i++)
		fprintf(stream, "port %d %llu %llu %llu %llu %llu %llu\n", i + 1,
			(unsigned long long)ports[i].in,
			(unsigned long long)ports[i].out,
			(unsigned long long)ports[i].queue.bytes,
			(unsigned long long)ports[i].dropped,
			(unsigned long long)ports[i].lost,
			(unsigned long long)ports[i].marked);
	if (fclose(stream) || rename(fresh, file))
		die(file);
}

static void port_open(struct port *port, const char *sockets, int number)
{
	struct sockaddr_un own = { .sun_family = AF_UNIX };
	int size = SOCKET_BUFFER;

	port->guest.sun_family = AF_UNIX;
	snprintf(port->guest.sun_path, sizeof(own.sun_path), "%s/%d", sockets, number);
	snprintf(own.sun_path, sizeof(own.sun_path), "%s/%d.switch", sockets, number);
	queue_init(&port->queue);
	port->fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	if (port->fd < 0 || bind(port->fd, (struct sockaddr *)&own, sizeof(own)) ||
	    setsockopt(port->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)))
		die(own.sun_path);
}

/* Nanoseconds until there is something to do besides receiving */
static uint64_t idle_time(uint64_t tick)
{
	uint64_t until = tick;
	int i;

	if (wire.head && wire.head->due < until)
		until = wire.head->due;
	for (i = 0; i < ports_count; i++) {
		if (ports[i].queue.head && !ports[i].blocked && ports[i].free_at < until)
			until = ports[i].free_at;
	}
	return until > now ? until - now : 0;
}

/* Waits until a frame comes, a guest takes frames again, or a time is due. */
static void wait_for_work(struct pollfd *polls, uint64_t tick)
{
	uint64_t idle = idle_time(tick);
	struct timespec timeout = { idle / SECOND, idle % SECOND };
	int i;

	for (i = 0; i < ports_count; i++)
		polls[i] = (struct pollfd){
			.fd = ports[i].fd,
			.events = POLLIN | (ports[i].blocked ? POLLOUT : 0),
		};
	if (ppoll(polls, ports_count, &timeout, NULL) < 0 && errno != EINTR)
		die("ppoll");
	now = clock_now();
}

int main(int argc, char **argv)
{
	char counters[256], file[256];
	struct pollfd polls[PORTS_MAX];
	uint64_t tick = 0;
	int i;

	if (argc != 4 || atoi(argv[2]) < 1 || atoi(argv[2]) > PORTS_MAX) {
		fprintf(stderr, "usage: switch SOCKETS PORTS STATE\n");
		return 2;
	}
	ports_count = atoi(argv[2]);
	snprintf(file, sizeof(file), "%s/settings", argv[3]);
	snprintf(counters, sizeof(counters), "%s/counters", argv[3]);
	queue_init(&wire);
	for (i = 0; i < ports_count; i++)
		port_open(&ports[i], argv[1], i + 1);
	for (;;) {
		now = clock_now();
		if (now >= tick) {
			settings_read(file);
			counters_write(counters);
			tick = now + TICK;
		}
		wait_for_work(polls, tick);
		for (i = 0; i < ports_count; i++) {
			if (polls[i].revents & POLLIN)
				port_receive(&ports[i]);
			if (polls[i].revents & POLLOUT)
				ports[i].blocked = false;
		}
		wire_deliver();
		for (i = 0; i < ports_count; i++) {
			if (!ports[i].blocked)
				port_serve(&ports[i]);
		}
	}
}
