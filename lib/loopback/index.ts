/** @param host - As `URL` gives it. */
export function isLoopback(host: string): boolean {
  // The last ones are IPv4 in IPv6. A request to an unspecified address (0.0.0.0, ::) reaches this machine.
  return /^(?:localhost\.?|127(\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:(?:7f[\da-f]{2}|0):[\da-f]+\])$/.test(host);
}
