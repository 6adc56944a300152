/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fastest CRC-32 of the kernel.
 *
 * If <linux/crc32.h> defines CRC32_LE_OPTIMIZATION, crc32_le() uses the best
 * instructions of the processor. In older kernels, only "crc32" of the crypto API
 * uses carry-less multiplication. Only wire/icrc.c includes this header, and owns
 * the state below.
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

/* For fewer bytes, crc32_le() is as fast, because it saves no FPU state. */
#define COMPAT_CRC32_MIN 128

/* Set at module load and constant afterwards; NULL without the algorithm */
static struct crypto_shash *compat_crc32_tfm;

/* Fall back to crc32_le() without the algorithm. Context: process. */
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
 * The state of the hash is the running value. Reading it avoids the conversion by
 * crypto_shash_final().
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

/* Context: any up to softirq. */
static inline u32 compat_crc32_le(u32 crc, const void *data, size_t len)
{
	if (!compat_crc32_tfm || len < COMPAT_CRC32_MIN)
		return crc32_le(crc, data, len);
	return compat_crc32_shash(crc, data, len);
}

#endif

#endif
