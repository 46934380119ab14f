/** The page and exported reports share one palette. */
export * from '@core/series-colors'
