/* fuzz: the one function of a fuzzer. libFuzzer calls it with inputs of its
 * making, replay.c with those of the corpus. A law that breaks aborts. */
#ifndef CELLFS_TESTS_FUZZ_H
#define CELLFS_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
