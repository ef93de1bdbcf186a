/** The folders of agents, which are sources where nobody has set anything. */
export const presets = [
  {
    title: 'The folder of an agent in a project that nobody approved gives what links lead to',
    in: 'openPreset',
    swap: ['trusted || project === undefined', "trusted || project !== ''"],
    test: 'gives nothing through links out of it, sets nothing, and runs nothing',
    build: true,
  },
  {
    title: 'The skills of a person are served over HTTP',
    in: 'mcp',
    swap: ['terminal.openRegistry(options, { presets: http === undefined })', 'terminal.openRegistry(options)'],
    test: 'takes no presets over HTTP and for a page, but where they are named',
    build: true,
  },
  {
    title: 'A page has the skills of the folders of agents',
    in: 'publish',
    swap: ['terminal.openRegistry(options, { presets: false })', 'terminal.openRegistry(options)'],
    test: 'takes no presets over HTTP and for a page, but where they are named',
    build: true,
  },
  {
    title: 'A program is given the skills of a person without asking',
    in: 'withPresets',
    swap: ["presets ? 'all' : 'project'", "presets ?? true ? 'all' : 'project'"],
    test: 'gives a program that says presets',
  },
  {
    title: 'The code of a project is given the skills of a person',
    in: 'start',
    swap: ["runsOwn ? 'project' : 'all'", "runsOwn ? 'all' : 'all'"],
    test: 'hides the skills of a person from the code of a project, where that runs',
    build: true,
  },
  {
    title: 'An extension that serves others is given the skills of a person',
    in: 'start',
    swap: ['!options.enable && takesPresets(root, options, terminal)', 'takesPresets(root, options, terminal)'],
    test: 'hides the skills of a person from the code of a project, where that runs',
    build: true,
  },
  {
    title: 'Disabling one skill hides all skills of a person',
    in: 'setDisabled',
    swap: ['isNew && preset', "isNew && preset === 'project' && preset"],
    test: 'keeps its sources when a skill is disabled, which makes the config file',
  },
];
