import js from '@eslint/js';
import ts from 'typescript-eslint';

export default ts.config({ ignores: ['node_modules', 'dashboards'] }, js.configs.recommended, ...ts.configs.strict, {
  rules: {
    '@typescript-eslint/no-non-null-assertion': 'off',
    '@typescript-eslint/no-deprecated': 'off',
    eqeqeq: 'error',
  },
});
