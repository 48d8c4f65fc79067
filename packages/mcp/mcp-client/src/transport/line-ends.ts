/** Where lines end in bytes: at a line feed in messages over stdio, at a carriage return too in an event stream. */

export const LF = 0x0a
export const CR = 0x0d

/** The first end of a line from an index on, or -1. */
export function firstLineEnd(bytes: Buffer, from: number, isCrToo: boolean): number {
  const lf = bytes.indexOf(LF, from)
  const cr = isCrToo ? bytes.indexOf(CR, from) : -1
  return lf === -1 || cr === -1 ? Math.max(lf, cr) : Math.min(lf, cr)
}

/** The last end of a line, or -1. */
export function lastLineEnd(bytes: Buffer, isCrToo: boolean): number {
  const lf = bytes.lastIndexOf(LF)
  return isCrToo ? Math.max(lf, bytes.lastIndexOf(CR)) : lf
}
