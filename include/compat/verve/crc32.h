/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fastest CRC-32 that the kernel has.
 *
 * Where <linux/crc32.h> tells which of its functions are optimised, crc32_le()
 * is as fast as the processor can be. Older kernels keep carry-less
 * multiplication behind the crypto API's "crc32" instead. Included by
 * wire/icrc.c alone, which owns the state below.
 */
#ifndef COMPAT_VERVE_CRC32_H
#define COMPAT_VERVE_CRC32_H

#include <linux/crc32.h>

#ifdef CRC32_LE_OPTIMIZATION

static inline int compat_crc32_init(void)
{
	return 0;
}

static inline void compat_crc32_exit(void)
{
}

static inline u32 compat_crc32_le(u32 crc, const void *data, size_t len)
{
	return crc32_le(crc, data, len);
}

#else

#include <crypto/hash.h>
#include <linux/err.h>

/* Up to about here crc32_le() is as fast: it has no FPU state to save. */
#define COMPAT_CRC32_MIN 128

/* Set at module load, constant while packets flow; NULL if there is none */
static struct crypto_shash *compat_crc32_tfm;

/* Process context. A kernel without the algorithm still has crc32_le(). */
static inline int compat_crc32_init(void)
{
	struct crypto_shash *tfm = crypto_alloc_shash("crc32", 0, 0);

	if (IS_ERR(tfm))
		return PTR_ERR(tfm) == -ENOENT ? 0 : PTR_ERR(tfm);
	if (crypto_shash_descsize(tfm) != sizeof(u32)) {
		crypto_free_shash(tfm);
		return 0;
	}
	compat_crc32_tfm = tfm;
	return 0;
}

static inline void compat_crc32_exit(void)
{
	if (compat_crc32_tfm)
		crypto_free_shash(compat_crc32_tfm);
	compat_crc32_tfm = NULL;
}

/*
 * The state of the hash is the running value itself; reading it back spares
 * the conversion that crypto_shash_final() would do.
 */
static inline u32 compat_crc32_shash(u32 crc, const void *data, size_t len)
{
	SHASH_DESC_ON_STACK(desc, compat_crc32_tfm);
	u32 *state = shash_desc_ctx(desc);

	desc->tfm = compat_crc32_tfm;
	*state = crc;
	if (crypto_shash_update(desc, data, len))
		return crc32_le(crc, data, len);
	return *state;
}

/* Any context up to softirq. */
static inline u32 compat_crc32_le(u32 crc, const void *data, size_t len)
{
	if (!compat_crc32_tfm || len < COMPAT_CRC32_MIN)
		return crc32_le(crc, data, len);
	return compat_crc32_shash(crc, data, len);
}

#endif

#endif
