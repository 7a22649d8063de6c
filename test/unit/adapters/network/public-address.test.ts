import { describe, expect, test } from 'vitest';
import { isPublicAddress } from '../../../../lib/adapters/network/public-address.ts';

describe('isPublicAddress', () => {
  test.each([
    '8.8.8.8',
    '93.184.215.14',
    '172.32.0.1',
    '100.128.0.1',
    '192.167.255.255',
    '2606:2800:21f:cb07:6820:80da:af6b:8b2c',
    '2001:4860:4860::8888',
  ])('lets %s through', (address) => expect(isPublicAddress(address)).toBe(true));

  test.each<[string, readonly string[]]>([
    ['this machine', ['127.0.0.1', '127.255.255.254', '0.0.0.0', '::1', '::', '::127.0.0.1']],
    ['private networks', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', 'fd00::1', 'fc00::1', 'fec0::1']],
    ['this link', ['169.254.169.254', '169.254.170.2', 'fe80::1', 'fe80::1%eth0']],
    ['metadata elsewhere', ['168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254']],
    [
      'IPv4 in IPv6',
      ['::ffff:8.8.8.8', '::ffff:7f00:1', '64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '2002:7f00:1::', '2001::1', '::ffff:0:127.0.0.1'],
    ],
    [
      'nobody, many, or a book',
      ['255.255.255.255', '224.0.0.1', 'ff02::1', '192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1', '5f00::1'],
    ],
    ['what is no plain address', ['', 'localhost', '0177.0.0.1', '2130706433', '0x7f.1', '127.1', '[::1]', '8.8.8.8 ', '8.8.8.8/32']],
  ])('refuses %s', (_what, addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([]);
  });
});
