motd:
  file.append:
    - name: {{ grains.root }}/etc/motd
    - makedirs: true
    - text: 'This host is managed by tsalt-ssh.'
