/** What features add to the core, and what is missing without them. */
export const seams = [
  {
    title: 'A registry without a guard opens',
    in: 'openRegistry',
    never: '!opened.some(({ guard }) => guard) && options.noGuard !== true',
    test: 'opens no registry without a guard, and leaves nothing open',
  },
  {
    title: 'A config says that there is no guard',
    in: 'openRegistry',
    swap: [
      'options.noGuard !== true',
      '(options as unknown as { config?: { noGuard?: unknown } }).config?.noGuard !== true && options.noGuard !== true',
    ],
    test: 'opens no registry without a guard, and leaves nothing open',
  },
  {
    title: 'The listener of a feature is not called',
    in: 'createEvents.emit',
    swap: ['listeners.get(kind) ?? []', '[]'],
    test: 'records the loads, files, refusals and failures of a turn, and no word of them',
  },
  {
    title: 'A listener that throws ends the call that sends the event',
    in: 'createEvents.emit',
    swap: [
      `callHook(\`a listener of "\${kind}"\`, () => listener(...given))`,
      'void callHook;\n        listener(...given)',
    ],
    test: 'goes on when the listener of a feature throws, tells the others, and reports it once',
  },
  {
    title: 'A turn in a state that no feature knows sees everything',
    in: 'openParts',
    swap: ['turn.workflowState && NOTHING', 'turn.workflowState && undefined'],
    test: 'shows a turn only what a feature leaves of the skills, and nothing in a state that no feature knows',
  },
  {
    title: 'What a feature leaves of the skills limits no turn',
    in: 'createScopes',
    swap: ['const only = narrowed?.only();', 'const only = narrowed && undefined;'],
    test: 'shows a turn only what a feature leaves of the skills, and nothing in a state that no feature knows',
  },
  {
    title: 'The catalog does not ask the guard',
    in: 'openSkills',
    swap: ["admit({ skill, kind: 'line', audience: 'model' }).heldBecause", 'skill && undefined'],
    test: 'is at no door of an agent in the catalog, and the others are',
  },
];
