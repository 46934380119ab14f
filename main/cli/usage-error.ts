/** Arguments that cannot be followed. The command line ends with status 2 and this message. */
export class UsageError extends Error {
  override name = 'UsageError'
}
