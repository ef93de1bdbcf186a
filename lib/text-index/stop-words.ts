/** English words that say nothing about what a skill is for; neither indexed nor searched for. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a about again all also am an and any are as at be because been being both but by can could did do does doing don for ' +
    'from had has have having he her here him his how i if in into is it its just let me more most my myself no not now of ' +
    'off on once only or other our ours out over own please same she should so some such than that the their them then ' +
    'there these they this those through to too up us very want wants was we were what when where which while who whom why ' +
    'will with would yes you your yours s t d m ll re ve'
  ).split(' '),
);
