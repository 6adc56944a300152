// SPDX-License-Identifier: GPL-2.0-only
/*
 * Network namespaces and their sockets on UDP port 4791
 *
 * The first device in a namespace opens the sockets, and the last one closes them. If
 * the namespace goes away first, it closes the sockets. A struct verve_net without a
 * namespace then remains until the last device releases it.
 */
#include <linux/in.h>
#include <linux/ipv6.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <net/inet_sock.h>
#include <net/netns/generic.h>
#include <net/udp_tunnel.h>
#include "../device.h"
#include "net.h"
#include "receiver.h"

/* Protects all slots, and the users and sockets of struct verve_net. */
static DEFINE_MUTEX(nets_lock);

/**
 * struct slot - state per namespace
 * @vnet: set while the namespace has devices
 * @closed: the namespace goes away
 */
struct slot {
	struct verve_net *vnet __guarded_by(&nets_lock);
	bool closed __guarded_by(&nets_lock);
};

static unsigned int slot_id;

static struct sock *open_socket(struct verve_net *vnet, struct net *net,
				sa_family_t family)
{
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(VERVE_UDP_PORT),
		.ipv6_v6only = family == AF_INET6,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = vnet,
		.encap_type = 1,
		.encap_rcv = verve_net_receive,
		.gro_receive = verve_gro_receive,
		.gro_complete = verve_gro_complete,
	};
	struct socket *sock;
	int err;

	err = udp_sock_create(net, &port, &sock);
	if (err)
		return ERR_PTR(err);
	setup_udp_tunnel_sock(net, sock->sk, &tunnel);
	/*
	 * A train is split just before encap_rcv. With checksum conversion on, the split
	 * would compute a UDP checksum for each packet, and nothing would use it.
	 */
	inet_dec_convert_csum(sock->sk);
	return sock->sk;
}

static void close_sockets(struct verve_net *vnet)
{
	if (vnet->sk6)
		udp_tunnel_sock_release(vnet->sk6);
	if (vnet->sk4)
		udp_tunnel_sock_release(vnet->sk4);
	WRITE_ONCE(vnet->sk6, NULL);
	vnet->sk4 = NULL;
}

static int open_sockets(struct verve_net *vnet, struct net *net)
{
	struct sock *sk;

	sk = open_socket(vnet, net, AF_INET);
	if (IS_ERR(sk))
		return PTR_ERR(sk);
	vnet->sk4 = sk;

	if (!IS_ENABLED(CONFIG_IPV6) || !ipv6_mod_enabled())
		return 0;
	sk = open_socket(vnet, net, AF_INET6);
	if (IS_ERR(sk))
		return PTR_ERR(sk);
	vnet->sk6 = sk;
	return 0;
}

static int open_net(struct verve_net *vnet, struct net *net)
{
	int err;

	err = open_sockets(vnet, net);
	if (!err)
		err = verve_net_hook(vnet, net);
	if (err)
		close_sockets(vnet);
	return err;
}

/* Receivers may still handle a packet until an RCU grace period has passed. */
static void close_net(struct verve_net *vnet, struct net *net)
	__must_hold(&nets_lock)
{
	lockdep_assert_held(&nets_lock);
	verve_net_unhook(vnet, net);
	close_sockets(vnet);
	RCU_INIT_POINTER(vnet->net, NULL);
}

static struct verve_net *create(struct net *net)
	__must_hold(&nets_lock)
{
	struct verve_net *vnet;
	int err;

	vnet = kzalloc_obj(*vnet);
	if (!vnet)
		return ERR_PTR(-ENOMEM);
	xa_init(&vnet->devs);
	RCU_INIT_POINTER(vnet->net, net);

	err = open_net(vnet, net);
	if (err) {
		kfree_rcu(vnet, rcu);
		return ERR_PTR(err);
	}
	return vnet;
}

struct verve_net *verve_net_get(struct net *net)
{
	struct slot *slot = net_generic(net, slot_id);
	struct verve_net *vnet;

	mutex_lock(&nets_lock);
	vnet = slot->vnet;
	if (slot->closed)
		vnet = ERR_PTR(-ENODEV);
	else if (!vnet)
		vnet = create(net);
	if (!IS_ERR(vnet)) {
		vnet->users++;
		slot->vnet = vnet;
	}
	mutex_unlock(&nets_lock);
	return vnet;
}

void verve_net_put(struct verve_net *vnet)
{
	struct net *net;

	mutex_lock(&nets_lock);
	if (--vnet->users) {
		mutex_unlock(&nets_lock);
		return;
	}
	net = rcu_dereference_protected(vnet->net,
					lockdep_is_held(&nets_lock));
	if (net) {
		struct slot *slot = net_generic(net, slot_id);

		slot->vnet = NULL;
		close_net(vnet, net);
	}
	mutex_unlock(&nets_lock);
	xa_destroy(&vnet->devs);
	kfree_rcu(vnet, rcu);
}

struct net *verve_net_ns(const struct verve_net *vnet)
{
	return rcu_dereference_check(vnet->net, true);
}

int verve_net_attach(struct verve_net *vnet, struct verve_dev *dev, int ifindex)
{
	int err = xa_insert(&vnet->devs, ifindex, dev, GFP_KERNEL);

	return err == -EBUSY ? -EEXIST : err;
}

void verve_net_detach(struct verve_net *vnet, struct verve_dev *dev)
{
	struct verve_dev *entry;
	unsigned long ifindex;

	xa_for_each(&vnet->devs, ifindex, entry) {
		if (entry == dev)
			xa_erase(&vnet->devs, ifindex);
	}
	synchronize_net();
}

/* Return: whether a receiver may be using the namespace. */
static bool leave_net(struct net *net)
{
	struct slot *slot = net_generic(net, slot_id);
	struct verve_net *vnet;

	mutex_lock(&nets_lock);
	slot->closed = true;
	vnet = slot->vnet;
	slot->vnet = NULL;
	if (vnet)
		close_net(vnet, net);
	mutex_unlock(&nets_lock);
	return vnet;
}

/* Many namespaces may end together, and wait for one grace period. */
static void __net_exit exit_nets(struct list_head *nets)
{
	bool in_use = false;
	struct net *net;

	list_for_each_entry(net, nets, exit_list)
		in_use |= leave_net(net);
	if (!in_use)
		return;
	verve_qp_release_routes();
	/* No receiver may use a namespace when it is freed. */
	synchronize_net();
}

static struct pernet_operations net_ops = {
	.exit_batch = exit_nets,
	.id = &slot_id,
	.size = sizeof(struct slot),
};

int __init verve_net_init(void)
{
	return register_pernet_subsys(&net_ops);
}

void verve_net_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
