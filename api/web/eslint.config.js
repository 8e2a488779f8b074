import js from '@eslint/js';
import ts from 'typescript-eslint';

export default ts.config(
  { ignores: ['dist', 'node_modules', 'src/api/schema.ts', 'test/fixtures'] },
  js.configs.recommended,
  ...ts.configs.strict,
  {
    rules: {
      // Text of telemetry is hostile: it becomes text nodes only.
      'no-restricted-syntax': [
        'error',
        { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: 'text of telemetry is hostile' },
        {
          selector: 'MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML)$/]',
          message: 'text of telemetry is hostile',
        },
      ],
      'no-control-regex': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      eqeqeq: 'error',
    },
  },
);
