/**
 * A name of hardware, or a text that has some, without what says nothing where there is little room: `Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz` is
 * `Intel Xeon Platinum 8481C`, `AMD EPYC 9554 64-Core Processor` is `AMD EPYC 9554`. The full text belongs into a tooltip beside it.
 */
export const shortHardware = (text: string): string =>
  text
    .replace(/\((?:R|TM|C)\)|[®™]/gi, '')
    .replace(/\s+CPU(?=\s+@|\s*$|,)/g, '')
    .replace(/\s+@\s+[\d.]+\s?[GM]Hz/gi, '')
    .replace(/\s+\d+-Core\b/gi, '')
    .replace(/(?<=\S)\s+Processor\b(?! \w)/g, '')
    .replace(/\s{2,}/g, ' ')
    .trim()

/**
 * A difference between two environments (`environmentDifferences`) with short names of hardware in what it is about and in the names of sessions. The
 * values stay whole: they may differ in the very part that a short name leaves out.
 */
export const shortDifference = (difference: string): string => difference.replace(/(?<=“)[^”]*(?=”)|^[^:“]*(?=:)/g, shortHardware)
