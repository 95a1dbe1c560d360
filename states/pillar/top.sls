base:
  'web*':
    - site
