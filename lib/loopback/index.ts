/** Whether a host name, as `URL` gives it, is that of this machine. */
export function isLoopback(host: string): boolean {
  // The last of IPv4 in IPv6; a machine that is asked for the address of none asks itself.
  return /^(?:localhost\.?|127(\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:(?:7f[\da-f]{2}|0):[\da-f]+\])$/.test(host);
}
