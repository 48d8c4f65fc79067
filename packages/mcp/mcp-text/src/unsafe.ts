/**
 * Which code points are unsafe to show, as one regular expression.
 *
 * Invariants:
 * - A match is always one code point; everything else in the expression only looks around.
 * - A code point that is kept because of its neighbours has only kept neighbours in that context. Escaping
 *   the unsafe ones therefore never changes the verdict on the others, which makes escaping idempotent.
 * - The verdict on a code point depends on at most {@link CONTEXT} UTF-16 units before and after it.
 *
 * The fixed set is written out instead of using `\p{Default_Ignorable_Code_Point}`, so that two versions of
 * Node with different Unicode tables show the same text.
 */

/** How many UTF-16 units around a code point can decide whether it is unsafe. */
export const CONTEXT = 8

/** Unsafe wherever it stands. */
const ALWAYS = [
  String.raw`\u{0}-\u{8}\u{b}\u{c}\u{e}-\u{1f}\u{7f}-\u{9f}`, // C0 (ESC is one of them), DEL, C1
  String.raw`\u{61c}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2066}-\u{2069}`, // bidirectional controls
  String.raw`\u{ad}\u{34f}\u{200b}\u{2060}-\u{2065}\u{206a}-\u{206f}\u{feff}`, // zero width
  String.raw`\u{115f}\u{1160}\u{17b4}\u{17b5}\u{3164}\u{ffa0}`, // letters and vowels without a glyph
  String.raw`\u{180b}-\u{180f}\u{fe00}-\u{fe0d}`, // variation selectors that text does not need
  String.raw`\u{2028}\u{2029}`, // line and paragraph separator
  String.raw`\u{fff0}-\u{fffb}`, // interlinear annotation and its reserved neighbours
  String.raw`\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}`, // layout of notations
  String.raw`\u{e0000}-\u{e0fff}`, // tags, variation selectors supplement, and what is reserved beside them
  String.raw`\p{Noncharacter_Code_Point}\p{Surrogate}`, // with the v flag a surrogate is a lone one
].join('')

/** The two selectors that choose between the text and the emoji form of a character. */
const PRESENTATION = String.raw`[\u{fe0e}\u{fe0f}]`
/** ZERO WIDTH NON-JOINER and ZERO WIDTH JOINER. */
const JOINER = String.raw`[\u{200c}\u{200d}]`

const PICTOGRAPH = String.raw`\p{Extended_Pictographic}`
/** What has a text and an emoji form. Digits, `#` and `*` have one only as the base of a keycap. */
const EMOJI = String.raw`[[${PICTOGRAPH}\p{Emoji}]--[#*0-9]]`

/** Scripts in which a joiner changes the spelling of a word. */
const JOINING_SCRIPTS = [
  'Arabic Syriac Mandaic Nko Mongolian Phags_Pa Adlam Hanifi_Rohingya',
  'Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Tibetan Myanmar Khmer',
  'Balinese Javanese Sundanese Meetei_Mayek Chakma Grantha Newa Tirhuta Sharada Kharoshthi Brahmi Syloti_Nagri',
]
const JOINING_SCRIPT = JOINING_SCRIPTS.join(' ').replace(/(\w+) ?/g, '\\p{scx=$1}')
const JOINING = `[[[${JOINING_SCRIPT}]&&[\\p{L}\\p{M}]]--[${ALWAYS}]]`
/** Viramas after which a joiner is spelling even at the end of a word (Malayalam chillus, khanda ta). */
const VIRAMA = String.raw`[\u{94d}\u{9cd}\u{a4d}\u{acd}\u{b4d}\u{bcd}\u{c4d}\u{ccd}\u{d4d}\u{dca}]`

/** Matches one unsafe code point. The `g` flag makes it stateful: use it with `replace` or `matchAll` only. */
export const UNSAFE = new RegExp(
  [
    `[${ALWAYS}]`,
    String.raw`\r(?!\n)`,
    `${PRESENTATION}(?<!${EMOJI}.)(?<![#*0-9].(?=\\u{20e3}))`,
    `${JOINER}(?<!${JOINING}.(?=${JOINING}))(?<!${VIRAMA}.)` +
      `(?<!${PICTOGRAPH}[\\u{fe0f}\\p{Emoji_Modifier}]?\\u{200d}(?=${PICTOGRAPH}))`,
  ].join('|'),
  'gv',
)

/**
 * Matches text that has nothing unsafe in it at first sight, as most text is. {@link UNSAFE} would say the same, but
 * takes some 10 ms to compile when it is first used.
 */
export const PLAIN = /^[\t\n -~]*$/

/** The visible form of one code point: `\u{` lower-case hexadecimal `}`. */
export function escapeCodePoint(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`
}
