/** English words that say nothing about what a skill is for; neither indexed nor searched for. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an and are as at be been but by can could did do does for from had has have how i if in into is it its just let me ' +
    'my of on or our should so some that the their them then there these they this to up us was we were what when where ' +
    'which while who why will with would you your s t d m ll re ve'
  ).split(' '),
);
