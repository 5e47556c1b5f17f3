/* SipHash-1-3, in the parts that the other headers put together.
 *
 * Source:  Aumasson and Bernstein, SipHash: a fast short-input PRF, INDOCRYPT 2012
 * Work:    O(words)
 * Departs: three rounds at the end instead of four, as in weir-core
 */
#ifndef WEIR_STEER_HASH_H
#define WEIR_STEER_HASH_H

#define STEER_INLINE static inline __attribute__((always_inline))

/* Eight bytes as SipHash takes them, least significant byte first. */
STEER_INLINE unsigned long long steer_word(const unsigned char *at)
{
#if defined(__bpf__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return *(const unsigned long long *)at;
#else
	unsigned long long word = 0;

	for (int i = 7; i >= 0; i--)
		word = word << 8 | at[i];
	return word;
#endif
}

STEER_INLINE unsigned long long steer_rotated(unsigned long long word, int bits)
{
	return word << bits | word >> (64 - bits);
}

/* The state of a hash. */
struct steer_hash {
	unsigned long long v[4];
};

STEER_INLINE void steer_round(struct steer_hash *hash)
{
	unsigned long long *v = hash->v;

	v[0] += v[1];
	v[2] += v[3];
	v[1] = steer_rotated(v[1], 13) ^ v[0];
	v[3] = steer_rotated(v[3], 16) ^ v[2];
	v[0] = steer_rotated(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = steer_rotated(v[1], 17) ^ v[2];
	v[3] = steer_rotated(v[3], 21) ^ v[0];
	v[2] = steer_rotated(v[2], 32);
}

STEER_INLINE void steer_absorb(struct steer_hash *hash, unsigned long long word)
{
	hash->v[3] ^= word;
	steer_round(hash);
	hash->v[0] ^= word;
}

/* "somepseudorandomlygeneratedbytes", as the paper has it. */
STEER_INLINE void steer_begin(struct steer_hash *hash, unsigned long long first, unsigned long long second)
{
	hash->v[0] = first ^ 0x736f6d6570736575ULL;
	hash->v[1] = second ^ 0x646f72616e646f6dULL;
	hash->v[2] = first ^ 0x6c7967656e657261ULL;
	hash->v[3] = second ^ 0x7465646279746573ULL;
}

STEER_INLINE unsigned long long steer_end(struct steer_hash *hash)
{
	hash->v[2] ^= 0xff;
	steer_round(hash);
	steer_round(hash);
	steer_round(hash);
	return hash->v[0] ^ hash->v[1] ^ hash->v[2] ^ hash->v[3];
}

#endif
