/** Texts dense in what the package decides about: invisible characters next to characters that use them. */
import fc from 'fast-check'

const INTERESTING = [
  ['\0', '\t', '\n', '\r', '\r\n', '\x1b', '\x7f', '\x85', '\u00ad', '\u034f', '\u061c', '\u115f', '\u17b4'],
  ['\u180b', '\u200b', '\u200c', '\u200d', '\u200e', '\u2028', '\u202e', '\u2060', '\u2069', '\ufe00'],
  ['\ufe0e', '\ufe0f', '\u20e3', '\ufeff', '\ufff9', '\uffff', '\ud83d', '\udc69', '\u{e0041}', '\u{e0100}'],
  ['\u{1d173}', '\u{1fffe}', '1', '#', 'a', ' ', '}', '\\', '中', '❤', '©', '🇩', '👩', '👧', '🏳', '🌈', '🏽'],
  ['می', 'خ', '\u0650', '\u0915', '\u094d', '\u0937', '\u0d28', '\u0d4d', '\u1820', '\u05d0'],
].flat()

/** Any text at all, hostile ones more often than by chance. */
export const hostileText = fc
  .array(
    fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...INTERESTING) },
      fc.string({ unit: 'binary', maxLength: 3 }),
    ),
    {
      maxLength: 60,
    },
  )
  .map((parts) => parts.join(''))
