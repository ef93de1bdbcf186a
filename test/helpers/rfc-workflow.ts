/** The third example of RFC 0008, as it stands there. */
export const WORKFLOW: { readonly id: string; readonly workflow: object; readonly [key: string]: unknown } = {
  id: 'support-workflow',
  name: 'Support Workflow',
  version: '1.3.1',
  skills: ['./skills/billing', './skills/technical', './skills/general'],
  workflow: {
    version: 1,
    entry: 'triage',
    states: {
      triage: {
        prompt_task: 'triage',
        on_event: { billing: 'billing_state', technical: 'tech_state' },
        skills: './skills/general',
      },
      billing_state: { prompt_task: 'billing', on_event: { resolved: 'closing' }, skills: './skills/billing' },
      tech_state: { prompt_task: 'technical', on_event: { resolved: 'closing' }, skills: './skills/technical' },
      closing: { prompt_task: 'closing', on_event: {}, skills: 'none' },
    },
  },
  prompts: { '...': '...' },
};
