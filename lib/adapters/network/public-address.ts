import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Hands out certificates and settings to virtual machines in Azure, on an address that is public by its number. */
const AZURE_HOST = '168.63.129.16';
/** All that is given out for the internet in IPv6. */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3');
/** Parts of it that lead elsewhere: IETF protocols with Teredo, 6to4, documentation. */
const NOT_GLOBAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map((range) => ipaddr.parseCIDR(range));

/**
 * Whether `address` is one of the public internet, as opposed to this machine, its network, a metadata service, or a way of
 * writing one of these in IPv6. Anything that is not an address in its plain form is not.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed.kind() === 'ipv4') return address !== AZURE_HOST;
  return parsed.match(GLOBAL_V6) && !NOT_GLOBAL_V6.some((range) => parsed.match(range));
}
