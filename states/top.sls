base:
  'web*':
    - web
