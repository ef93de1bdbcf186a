/** Whether a host name, as `URL` gives it, is that of this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || /^127(\.\d{1,3}){3}$/.test(host) || host === '[::1]';
}
