/*-------------------------------------------------------------------------
 * encode_net.c - byte encoding of inet and cidr
 *
 *	04 or 06		version of the protocol
 *	4 or 16			the network's address: bits beyond the mask are zero
 *	1				bits of the mask
 *	0 to 16			the bytes of the address from the one on in which the mask ends
 *
 * Core compares as many bits as both masks have, then the masks, then all bits.  Of two networks,
 * one of which contains the other, the inner one's address is not the smaller one; so the bytes
 * order alike.
 *-------------------------------------------------------------------------
 */
#include "surfidx.h"
#include "encode.h"
#include "encode_impl.h"

#include "utils/inet.h"

#define VERSION_4	0x04
#define VERSION_6	0x06

static inline int
address_size(uint8 version)
{
	return version == VERSION_4 ? 4 : 16;
}

static int
encode_inet(Datum value, uint8 *buf, int maxlen)
{
	inet	   *v = DatumGetInetPP(value);
	int			size = ip_addrsize(v);
	int			bits = ip_bits(v);
	int			whole = bits / 8;
	int			len = 2 + size + size - whole;

	if (len <= maxlen)
	{
		buf[0] = ip_family(v) == PGSQL_AF_INET ? VERSION_4 : VERSION_6;
		memset(buf + 1, 0, size);
		memcpy(buf + 1, ip_addr(v), whole);
		if (whole < size)
			buf[1 + whole] = ip_addr(v)[whole] & (uint8) ~(0xFF >> bits % 8);
		buf[1 + size] = (uint8) bits;
		memcpy(buf + 2 + size, ip_addr(v) + whole, size - whole);
	}
	else
		len = -1;
	sfx_free_copy(v, value);
	return len;
}

static int
length_inet(const uint8 *buf, int avail, uint8 flip)
{
	uint8		version = avail > 0 ? buf[0] ^ flip : 0;
	int			size = address_size(version);
	int			bits;
	int			len;

	if ((version != VERSION_4 && version != VERSION_6) || avail < 2 + size)
		return -1;
	bits = buf[1 + size] ^ flip;
	len = 2 + size + size - bits / 8;
	return bits <= size * 8 && len <= avail ? len : -1;
}

static Datum
decode_inet(const uint8 *buf, int len, char *out, int room, int *outlen)
{
	inet	   *v = (inet *) out;
	int			size;
	int			whole;

	if (length_inet(buf, len, 0) != len)
		sfx_damaged_value("inet");
	size = address_size(buf[0]);
	whole = buf[1 + size] / 8;
	SET_VARSIZE(v, VARHDRSZ + 2 + size);
	ip_family(v) = buf[0] == VERSION_4 ? PGSQL_AF_INET : PGSQL_AF_INET6;
	ip_bits(v) = buf[1 + size];
	memcpy(ip_addr(v), buf + 1, whole);
	memcpy(ip_addr(v) + whole, buf + 2 + size, size - whole);
	*outlen = VARHDRSZ + 2 + size;
	return PointerGetDatum(v);
}

/* The short cut for addresses whose mask has all bits: address and bits, and nothing else. */
static inline int
take_address(const uint8 *buf, int family, int size, uint8 flip, inet *v)
{
	SET_VARSIZE(v, VARHDRSZ + 2 + size);
	ip_family(v) = family;
	ip_bits(v) = 8 * size;
	for (int i = 0; i < size; i++)
		ip_addr(v)[i] = buf[1 + i] ^ flip;
	return 2 + size;
}

static int
take_inet(const uint8 *buf, int avail, uint8 flip, char *out)
{
	uint8		version = buf[0] ^ flip;
	inet	   *v = (inet *) out;

	if (version == VERSION_4 && avail >= 6 && (buf[5] ^ flip) == 32)
		return take_address(buf, PGSQL_AF_INET, 4, flip, v);
	if (version == VERSION_6 && avail >= 18 && (buf[17] ^ flip) == 128)
		return take_address(buf, PGSQL_AF_INET6, 16, flip, v);
	return 0;
}

static const SfxEncoding enc_inet = {
	.encode = encode_inet,.decode = decode_inet,.length = length_inet,.take = take_inet
};

SFX_SUPPORT_FUNCTION(inet, enc_inet);
