/** For links and pictures; never a script. The domain has checked the address, and this checks again. */
export function webAddress(address: string | undefined): string | undefined {
  return address !== undefined && /^https?:\/\//.test(address) ? address : undefined;
}
