/*
 * replay.c - run a fuzz target over files instead of a fuzzer: each test case once
 *
 *	replay name file...		TAP; a case that fails aborts, as it does under the fuzzer
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
main(int argc, char **argv)
{
	static uint8_t bytes[1 << 16];

	for (int i = 2; i < argc; i++)
	{
		FILE	   *f = fopen(argv[i], "rb");
		size_t		len;
		uint8_t    *data;

		if (f == NULL)
		{
			printf("not ok 1 - %s: cannot open %s\n1..1\n", argv[1], argv[i]);
			return 1;
		}
		len = fread(bytes, 1, sizeof(bytes), f);
		fclose(f);
		/* allocated to the byte, so that ASan sees a read beyond */
		data = malloc(len ? len : 1);
		for (size_t k = 0; k < len; k++)
			data[k] = bytes[k];
		fprintf(stderr, "# %s\n", argv[i]);
		LLVMFuzzerTestOneInput(data, len);
		free(data);
	}
	printf("ok 1 - fuzz corpus %s: %d cases\n1..1\n", argv[1], argc - 2);
	return 0;
}
