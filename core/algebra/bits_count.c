/* n_ij of eight columns i and eight columns j, for each instruction set. The 64 sums remain in
 * registers during the loop over words. */
#include "algebra/bits_count.h"

#include "base/loops.h"
#include <string.h>

#if defined(__GNUC__) && defined(__x86_64__)
#define X86 1
#include <immintrin.h>
#else
#define X86 0
#endif

enum { EIGHT = 8 };

/* ------------ plain C
 *
 * Population counts of each byte, by adding bits, pairs and groups of four. Bytes hold sums of up
 * to 31 words: 31 * 8 = 248 < 256. */

enum { PLAIN_WORDS = 31 };

static uint64_t ones_of_bytes(uint64_t x) {
  x -= x >> 1 & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
  return (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}

static uint32_t sum_of_bytes(uint64_t x) {
  const uint64_t pairs = (x & 0x00ff00ff00ff00ffu) + (x >> 8 & 0x00ff00ff00ff00ffu);
  return (uint32_t)(pairs * 0x0001000100010001u >> 48);
}

/* The counter without special instructions. Counts are added as bytes, which at most PLAIN_WORDS
 * words do not overflow. */
static void count_plain(size_t words, const uint64_t *left, const uint64_t *right, uint32_t *out,
                        size_t stride) {
  for (size_t i = 0; i < EIGHT; i++) {
    uint64_t sums[EIGHT] = {0};
    for (size_t w = 0; w < words; w++)
      for (size_t j = 0; j < EIGHT; j++)
        sums[j] += ones_of_bytes(left[w * EIGHT + i] & right[w * EIGHT + j]);
    for (size_t j = 0; j < EIGHT; j++)
      out[i * stride + j] += sum_of_bytes(sums[j]);
  }
}

#if X86
/* ------------ AVX2
 *
 * A word is widened to two, with the low and the high halves of its bytes. The AND of two half
 * bytes is the index of its population count in a table of 16 (PSHUFB; Mula, Kurz and Lemire 2018):
 * three instructions for 32 half bytes. A byte grows by at most 4 for each: 62 * 4 = 248 < 256. */

enum { AVX2_WORDS = 31, HALVES = 2, FOUR = 4 };

/* For each group of eight words, eight with the low halves of their bytes and eight with the high
 * halves. */
__attribute__((target("avx2"))) static void widen_avx2(size_t words, const uint64_t *from,
                                                       uint64_t *to) {
  const __m256i low = _mm256_set1_epi8(15);
  for (size_t i = 0; i < words * EIGHT; i += EIGHT, to += HALVES * EIGHT)
    for (size_t h = 0; h < EIGHT; h += FOUR) {
      const __m256i x = _mm256_loadu_si256((const void *)(from + i + h));
      _mm256_storeu_si256((void *)(to + h), _mm256_and_si256(x, low));
      _mm256_storeu_si256((void *)(to + EIGHT + h), _mm256_and_si256(_mm256_srli_epi64(x, 4), low));
    }
}

/* out[0 .. 3] += the sums of the bytes of four words. */
__attribute__((target("avx2"), always_inline)) static inline void add_four(__m256i bytes,
                                                                           uint32_t *out) {
  const __m256i sums = _mm256_sad_epu8(bytes, _mm256_setzero_si256()),
                even = _mm256_permutevar8x32_epi32(sums, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
  _mm_storeu_si128((void *)out,
                   _mm_add_epi32(_mm_loadu_si128((const void *)out), _mm256_castsi256_si128(even)));
}

/* sum += the population counts of the half bytes of a AND b */
#define SHARED(sum, a, b) \
  sum = _mm256_add_epi8(sum, _mm256_shuffle_epi8(table, _mm256_and_si256(a, b)))

/* Four of the left columns against the eight of the right. */
__attribute__((target("avx2"), always_inline)) static inline void
count_half(size_t words, const uint64_t *left, const uint64_t *right, uint32_t *out,
           size_t stride) {
  const __m256i table =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  __m256i a0 = _mm256_setzero_si256(), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, d0 = a0,
          d1 = a0;
  for (size_t i = 0; i < words * HALVES * EIGHT; i += EIGHT) {
    const __m256i first = _mm256_loadu_si256((const void *)(right + i)),
                  second = _mm256_loadu_si256((const void *)(right + i + FOUR));
    const __m256i a = _mm256_set1_epi64x((long long)left[i]),
                  b = _mm256_set1_epi64x((long long)left[i + 1]),
                  c = _mm256_set1_epi64x((long long)left[i + 2]),
                  d = _mm256_set1_epi64x((long long)left[i + 3]);
    SHARED(a0, a, first);
    SHARED(a1, a, second);
    SHARED(b0, b, first);
    SHARED(b1, b, second);
    SHARED(c0, c, first);
    SHARED(c1, c, second);
    SHARED(d0, d, first);
    SHARED(d1, d, second);
  }
  add_four(a0, out);
  add_four(a1, out + FOUR);
  add_four(b0, out + stride);
  add_four(b1, out + stride + FOUR);
  add_four(c0, out + 2 * stride);
  add_four(c1, out + 2 * stride + FOUR);
  add_four(d0, out + 3 * stride);
  add_four(d1, out + 3 * stride + FOUR);
}

__attribute__((target("avx2"))) static void count_avx2(size_t words, const uint64_t *left,
                                                       const uint64_t *right, uint32_t *out,
                                                       size_t stride) {
  count_half(words, left, right, out, stride);
  count_half(words, left + FOUR, right, out + FOUR * stride, stride);
}

/* ------------ AVX-512 with VPOPCNTDQ */

#define AVX512 __attribute__((target("avx512f,avx512vl,avx512vpopcntdq")))

/* sum += the population counts of left[i] AND each of eight words */
#define ONES(sum, i) \
  sum = _mm512_add_epi64( \
      sum, _mm512_popcnt_epi64(_mm512_and_si512(others, _mm512_set1_epi64((long long)left[i]))))

AVX512 static void add_eight(__m512i sums, uint32_t *out) {
  const __m256i before = _mm256_loadu_si256((const void *)out);
  _mm256_storeu_si256((void *)out, _mm256_add_epi32(before, _mm512_cvtepi64_epi32(sums)));
}

/* The counter for AVX-512: a vector of eight counts for each of the eight words on the left, in
 * variables of their own so that they stay in registers. */
AVX512 static void count_avx512(size_t words, const uint64_t *left, const uint64_t *right,
                                uint32_t *out, size_t stride) {
  __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
  for (size_t w = 0; w < words; w++, left += EIGHT, right += EIGHT) {
    const __m512i others = _mm512_loadu_si512(right);
    ONES(a, 0);
    ONES(b, 1);
    ONES(c, 2);
    ONES(d, 3);
    ONES(e, 4);
    ONES(f, 5);
    ONES(g, 6);
    ONES(h, 7);
  }
  add_eight(a, out);
  add_eight(b, out + stride);
  add_eight(c, out + 2 * stride);
  add_eight(d, out + 3 * stride);
  add_eight(e, out + 4 * stride);
  add_eight(f, out + 5 * stride);
  add_eight(g, out + 6 * stride);
  add_eight(h, out + 7 * stride);
}
#endif

/* ------------ the table, best first */

static const struct {
  scl_bits_counter counter;
  const char *set; /* of base/loops.h */
} counters[] = {
#if X86
    {{"avx512", 0, 0, NULL, count_avx512}, "avx512"},
    {{"avx2", AVX2_WORDS, HALVES, widen_avx2, count_avx2}, "avx2"},
#endif
    {{"plain", PLAIN_WORDS, 0, NULL, count_plain}, "plain"},
};

/* Whether this machine has the instructions of a counter. */
static int machine_has(const char *set) {
#if X86
  if (strcmp(set, "avx512") == 0)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vpopcntdq");
  if (strcmp(set, "avx2") == 0) return __builtin_cpu_supports("avx2");
#endif
  return strcmp(set, "plain") == 0;
}

const scl_bits_counter *scl_bits_counter_get(void) {
  size_t i = 0;
  while (!machine_has(counters[i].set) || !scl_loops_allow(counters[i].set))
    i++;
  return &counters[i].counter;
}
