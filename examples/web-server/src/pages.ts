/** The pages that the example server offers. */

/** One page. */
export interface Page {
  readonly title: string
  /** Markdown. */
  readonly text: string
}

/** Every page by its slug, in the order of the list. */
export const pages: ReadonlyMap<string, Page> = new Map([
  [
    'tomato',
    {
      title: 'Tomato',
      text: '# Tomato\n\nSow indoors in March, plant out after the last frost. Water the soil, not the leaves.\n',
    },
  ],
  [
    'garlic',
    {
      title: 'Garlic',
      text: '# Garlic\n\nPlant single cloves in October, 5 cm deep. Harvest when the lower leaves turn yellow.\n',
    },
  ],
  [
    'mint',
    {
      title: 'Mint',
      text: '# Mint\n\nKeep it in a pot: in a bed it takes over. Cut it back hard after flowering.\n',
    },
  ],
])

/** A green square of 8 × 8 pixels, PNG in base64. */
export const icon =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mPQ6w7HihiGlgQAiA5EAelMnMUAAAAASUVORK5CYII='
