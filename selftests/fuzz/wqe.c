// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a user's send request: an accepted request is within every limit, and no
 * access goes beyond the element and the copy.
 */
#include <kernel.h>
#include "../../drivers/infiniband/sw/verve/queue/wqe.h"
#include "fuzz.h"

static u64 sum(const struct verve_swqe *swqe)
{
	u64 length = 0;
	u32 i;

	for (i = 0; i < swqe->num_sge; i++)
		length += swqe->sge[i].length;
	return length;
}

static void check(const struct verve_wqe_limits *limits,
		  const struct verve_swqe *swqe)
{
	if (swqe->error)
		return;
	must(swqe->num_sge <= limits->max_sge);
	must(swqe->length <= VERVE_MAX_MSG);
	must(swqe->opcode != IB_WR_REG_MR);
	must(swqe->state == VERVE_WQE_POSTED && !swqe->rd_atomic);
	if (swqe->is_inline)
		must(swqe->length <= max(limits->max_inline, 8U));
	else if (swqe->num_sge)
		must(sum(swqe) == swqe->length);
	if (limits->qp_type == IB_QPT_UD)
		must(swqe->length <= limits->mtu);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const u8 types[] = {
		IB_QPT_RC, IB_QPT_UC, IB_QPT_UD, IB_QPT_GSI, IB_QPT_RAW_PACKET,
	};
	struct verve_wqe_limits limits;
	struct rxe_send_wqe header = {};
	struct rxe_send_wqe *wqe;
	struct verve_swqe *swqe;
	size_t tail;

	if (size < 3)
		return 0;
	limits = (struct verve_wqe_limits) {
		.qp_type = types[data[0] % ARRAY_SIZE(types)],
		.max_sge = data[1] % (VERVE_MAX_SGE + 1),
		.max_inline = data[2] * 2,
		.mtu = 1024,
	};
	data += 3;
	size -= 3;
	memcpy(&header, data, min(size, sizeof(header)));
	tail = verve_wqe_tail(&limits, &header);
	must(sizeof(header) + tail <=
	     verve_send_wqe_size(limits.max_sge, limits.max_inline));
	wqe = calloc(1, sizeof(header) + tail);
	memcpy(wqe, data, min(size, sizeof(header) + tail));
	swqe = malloc(verve_swqe_size(limits.max_sge, limits.max_inline));
	verve_wqe_from_user(&limits, wqe, swqe);
	check(&limits, swqe);
	free(wqe);
	free(swqe);
	return 0;
}
