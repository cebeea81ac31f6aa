/*-------------------------------------------------------------------------
 * slow_disk.c - a disk that takes its time, for bench/cold.sh
 *
 * To be loaded into a server by LD_PRELOAD.  A disk of SLOW_DEPTH channels takes SLOW_US
 * microseconds for each block of 8 kB that a process reads for the first time from a file whose
 * path contains SLOW_PATH; a block that it has read before is in memory.  posix_fadvise(WILLNEED)
 * gives the block to the channel that is free first and returns; pread of a block waits until its
 * channel has done it.  Each process has a disk of its own: of no use for parallel plans.
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK		8192
#define SLOTS		(1 << 20)	/* of a hash table of the blocks known */
#define CHANNELS	256

static struct
{
	uint64_t	block;			/* file and number; 0: none */
	int64_t		done;			/* ns */
}		   *known;
static int64_t channel[CHANNELS];
static int	channels;
static int64_t each;

static int64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* 0: not one of the files that are slow. */
static uint64_t
name_block(int fd, off_t offset)
{
	const char *part = getenv("SLOW_PATH");
	char		link[64];
	char		path[1024];
	ssize_t		len;
	struct stat s;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len <= 0 || part == NULL)
		return 0;
	path[len] = 0;
	if (strstr(path, part) == NULL || fstat(fd, &s) != 0)
		return 0;
	return (uint64_t) s.st_ino << 32 | (uint64_t) (offset / BLOCK + 1);
}

/* When the block is in memory. */
static int64_t
when_done(uint64_t block)
{
	uint64_t	h = block * UINT64_C(0x9E3779B97F4A7C15) >> 44;
	int64_t		t;
	int			c = 0;

	if (known == NULL)
	{
		known = calloc(SLOTS, sizeof(*known));
		channels = getenv("SLOW_DEPTH") ? atoi(getenv("SLOW_DEPTH")) : 64;
		if (channels < 1 || channels > CHANNELS)
			channels = CHANNELS;
		each = (getenv("SLOW_US") ? atoi(getenv("SLOW_US")) : 0) * INT64_C(1000);
	}
	for (; known[h].block != 0; h = (h + 1) % SLOTS)
		if (known[h].block == block)
			return known[h].done;
	for (int i = 1; i < channels; i++)
		if (channel[i] < channel[c])
			c = i;
	t = now();
	channel[c] = (channel[c] > t ? channel[c] : t) + each;
	known[h].block = block;
	return known[h].done = channel[c];
}

static void
wait_for(int fd, off_t offset)
{
	uint64_t	block = name_block(fd, offset);
	int64_t		left = block ? when_done(block) - now() : 0;
	struct timespec t = {left / INT64_C(1000000000), left % INT64_C(1000000000)};

	if (left > 0)
		nanosleep(&t, NULL);
}

ssize_t
pread(int fd, void *buf, size_t n, off_t offset)
{
	static ssize_t (*real) (int, void *, size_t, off_t);

	if (real == NULL)
		real = (ssize_t (*) (int, void *, size_t, off_t)) dlsym(RTLD_NEXT, "pread");
	wait_for(fd, offset);
	return real(fd, buf, n, offset);
}

ssize_t
pread64(int fd, void *buf, size_t n, off64_t offset)
{
	return pread(fd, buf, n, offset);
}

int
posix_fadvise(int fd, off_t offset, off_t len, int advice)
{
	static int (*real) (int, off_t, off_t, int);
	uint64_t	block;

	if (real == NULL)
		real = (int (*) (int, off_t, off_t, int)) dlsym(RTLD_NEXT, "posix_fadvise");
	if (advice == POSIX_FADV_WILLNEED)
		for (off_t at = offset; at < offset + len; at += BLOCK)
			if ((block = name_block(fd, at)) != 0)
				(void) when_done(block);
	return real(fd, offset, len, advice);
}

int
posix_fadvise64(int fd, off64_t offset, off64_t len, int advice)
{
	return posix_fadvise(fd, offset, len, advice);
}
